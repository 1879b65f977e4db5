// A small machine as a graph: units flip one by one, and the counted states approach their exact probabilities.
function mount(model, el) {
  const machine = { weights: model.get("weights"), biases: model.get("biases") }, colours = model.get("colours");
  const n = machine.biases.length, next = uniforms(model.get("seed")), fixed = new Array(n).fill(0);
  const s = Array.from({ length: n }, () => next() < 0.5 ? 1 : -1), SHOWN = Math.min(2 ** n, 16);
  let T = model.get("temperature"), rate = 2, due = 0, before = 0, unit = -1, exact, counts, total, order;

  // The graph
  const graph = make("svg:svg", { viewBox: "0 0 320 300", role: "group", "aria-label": "The machine" });
  const largest = Math.max(...machine.weights.flat().map(Math.abs)) || 1, few = n <= 4;
  const place = (i, r) => [160 + r * Math.sin(2 * Math.PI * i / n), 150 - r * Math.cos(2 * Math.PI * i / n)];
  const word = (x, y, text, more = {}) => make("svg:text", { x, y, "text-anchor": "middle", ...more }, text);
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) {
    const w = machine.weights[i][j], [x1, y1] = place(i, 100), [x2, y2] = place(j, 100);
    if (w) graph.append(make("svg:line", { x1, y1, x2, y2, stroke: w > 0 ? colours.together : colours.apart,
      "stroke-width": 0.5 + 6 * Math.abs(w) / largest, "stroke-opacity": 0.85,
      "stroke-dasharray": w > 0 ? "none" : "9 5" }));
    if (w && few) graph.append(word((x1 + x2) / 2, (y1 + y2) / 2 + 4, signed(w, 1, "+"), { class: "halo" }));
  }
  const radius = few ? 24 : 16;
  const units = s.map((_, i) => {
    const [x, y] = place(i, 100), [bx, by] = place(i, 100 + radius + 20);
    const ring = make("svg:circle", { cx: x, cy: y, r: radius + 5, class: "ring" });
    const disc = make("svg:circle", { cx: x, cy: y, r: radius, class: "unit" }), sign = word(x, y + 5, "");
    const press = (event) => {
      if (event.key && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      clamp(i);
    };
    const g = make("svg:g", { tabindex: 0, role: "button", onclick: press, onkeydown: press }, ring, disc, sign);
    const bias = machine.biases[i], name = few ? `unit ${i}` + (bias ? `, b = ${signed(bias, 1, "+")}` : "") : i;
    graph.append(g, word(bx, by + 4, name, { class: "soft" }));
    return { g, disc, sign };
  });

  // The bars
  const row = 224 / SHOWN, thick = Math.min(row * 0.36, 9), left = Math.max(44, 9 * n + 12), wide = 400 - left - 8;
  const bars = make("svg:svg", { viewBox: "0 0 400 262", role: "img", "aria-label": "Probabilities" });
  let scale = 1;
  const bar = (y, fill) => bars.appendChild(make("svg:rect", { x: left, y, height: thick, width: 0, fill }));
  const rows = Array.from({ length: SHOWN }, (_, k) => {
    const y = row * (k + 0.5) + 10;
    const label = bars.appendChild(word(left - 6, y + 4, "", { "text-anchor": "end", class: "state" }));
    return { label, exact: bar(y - thick, "currentColor"), count: bar(y, colours.gibbs) };
  });
  const ends = [0, 0.5, 1].map((f) => [f, bars.appendChild(word(left + f * wide, 250, "", { class: "tick" }))]);

  const numbers = note(), story = note();
  story.classList.add("story");
  const restart = () => {
    exact = enumerate(machine, T, fixed);
    [counts, total, before] = [new Float64Array(2 ** n), 0, 0];
    order = [...exact.keys()].sort((a, b) => exact[b] - exact[a] || a - b).slice(0, SHOWN);
    scale = [0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8].find((x) => x > exact[order[0]] * 1.1) || 1;
    order.forEach((k, r) => {
      rows[r].label.textContent = k.toString(2).padStart(n, "0").replaceAll("0", "−").replaceAll("1", "+");
      rows[r].exact.setAttribute("width", exact[k] / scale * wide);
    });
    for (const [f, tick] of ends) tick.textContent = +(f * scale).toFixed(2);
    show();
  };
  const clamp = (i) => {
    fixed[i] = { 0: 1, 1: -1, "-1": 0 }[fixed[i]];
    if (fixed[i]) s[i] = fixed[i];
    restart();
  };
  const update = () => {
    do unit = (unit + 1) % n; while (fixed[unit] && fixed.includes(0));
    if (fixed[unit]) return;
    const h = field(machine, s, unit), p = chanceOfPlus(h, T), u = next();
    s[unit] = u < p ? 1 : -1;
    counts[numberOf(s)]++;
    total++;
    if (rate <= 20) story.textContent = `Unit ${unit}: field ${signed(h, 2, "+")}, p(+1) = ${p.toFixed(3)}; ` +
      `u = ${u.toFixed(3)} is ${u < p ? "below" : "above"}, so it turns ${s[unit] > 0 ? "+1" : "−1"}.`;
  };
  const show = () => {
    units.forEach(({ g, disc, sign }, i) => {
      disc.setAttribute("fill", s[i] > 0 ? colours.gibbs : "var(--back)");
      sign.textContent = s[i] > 0 ? "+" : "−";
      sign.setAttribute("style", `fill: ${s[i] > 0 ? "white" : "var(--ink)"}; font-size: 16px`);
      g.setAttribute("class", `node${i === unit && rate <= 20 ? " now" : ""}${fixed[i] ? " fixed" : ""}`);
      g.setAttribute("aria-label", `unit ${i}, ${fixed[i] ? "held at " + fixed[i] : "free"}; press to change`);
    });
    const share = (k) => counts[k] / (total || 1);
    order.forEach((k, r) => rows[r].count.setAttribute("width", Math.min(1, share(k) / scale) * wide));
    const distance = exact.reduce((d, p, k) => d + Math.abs(p - share(k)), 0) / 2;
    numbers.textContent = `${total.toLocaleString("en")} updates.   ` +
      (total ? `In total, ${(100 * distance).toFixed(1)} % of the probability is in the wrong place.` : "");
    if (rate > 20) story.textContent = "";
  };
  const step = () => {
    const now = performance.now();
    due += before ? Math.min(now - before, 100) / 1000 * rate : 0;
    before = now;
    if (due < 1) return;
    for (; due >= 1; due--) update();
    show();
  };

  const key = note(["var(--ink)", "■", "exact"], [colours.gibbs, "■", "counted"],
    SHOWN < 2 ** n ? `the ${SHOWN} most probable of ${2 ** n} states` : "probability of each state");
  const root = frame(el, "machine", make("div", { class: "pair" },
    make("div", { class: "stage" }, graph), make("div", { class: "column" }, bars, key)), story, numbers);
  const run = player(root, step);
  const rates = [2, 10, 60, 600, 6000, 60000];
  const once = button("One update", () => { run.toggle(false); update(); show(); });
  root.append(
    make("div", { class: "buttons" }, run.control, once, button("Count anew", restart)),
    make("div", { class: "controls" },
      slider("temperature T", { min: 0.1, max: 5, step: 0.05, value: T, show: (v) => v.toFixed(2) },
        (v) => { T = v; restart(); }).el,
      slider("updates a second", {
        min: 0, max: rates.length - 1, step: 1, value: 0, show: (k) => rates[k].toLocaleString("en"),
      }, (k) => { rate = rates[k]; due = 0; }).el),
    note("Press a unit to hold it at +1, again for −1, again to free it: the bars become conditional."));
  restart();
  return run.stop;
}

export default alive(mount);
