// A small machine as a graph: units flip one by one, and the counted states approach their exact probabilities.
function mount(model, el) {
  const machine = Object.fromEntries(["weights", "biases"].map((key) => [key, model.get(key)]));
  const colours = model.get("colours");
  const n = machine.biases.length, next = uniforms(model.get("seed")), fixed = new Array(n).fill(0);
  const s = Array.from({ length: n }, () => next() < 0.5 ? 1 : -1), SHOWN = Math.min(2 ** n, 16);
  const names = model.get("names").length ? model.get("names") : s.map((_, i) => `unit ${i}`);
  let T = model.get("temperature"), rate = 2, due = 0, unit = -1, age = 0, plain = true;
  let exact, counts, total, order;

  const { svg, units } = graph(model.get("drawn"), colours, (i) => clamp(i));

  // The bars: press one to set its state
  const row = 224 / SHOWN, thick = Math.min(row * 0.28, 8), from = Math.max(52, 9 * n + 12), wide = 400 - from - 8;
  const bars = make("svg:svg", { viewBox: "0 0 400 262", role: "group", "aria-label": "States, most probable first" });
  let scale = 1;
  const rows = Array.from({ length: SHOWN }, (_, r) => {
    const y = row * (r + 0.5) + 10, looks = [["currentColor", -1, 0.4], [colours.gibbs, -0.5, 1.5]];
    const [sure, count] = looks.map(([fill, top, high]) =>
      make("svg:rect", { x: from, y: y + top * thick, height: high * thick, width: 0, fill }));
    const label = word(from - 6, y + 4, "", { "text-anchor": "end", class: `bml-state${n <= 4 ? " bml-drawn" : ""}` });
    const state = n <= 4 ? discs(n, from - 24, y, row - 1) : [];
    const hit = make("svg:rect", { x: 0, y: y - row / 2, width: 400, height: row, class: "bml-hit" });
    const press = (event) => {
      const to = { ArrowDown: r + 1, ArrowUp: r - 1 }[event.key];
      if (event.key && !(to in rows) && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      if (to in rows) rows[to].g.focus();
      else set(order[r]);
    };
    const g = bars.appendChild(make("svg:g", { class: "bml-row", role: "button", tabindex: r ? -1 : 0, onclick: press,
      onkeydown: press }, label, ...state, sure, count, hit));
    return { g, label, state, sure, count };
  });
  const ends = [0, 0.5, 1].map((f) => [f, bars.appendChild(word(from + f * wide, 250, "", { class: "bml-tick" }))]);
  const corners = n === 3 ? cube(colours, (k) => set(k)) : null;

  const numbers = note(), story = note(), bit = (k, i) => (k >> (n - 1 - i)) & 1 ? "+1" : "−1";
  const name = (k) => model.get("names").length ? names.map((x, i) => `${x} ${bit(k, i)}`).join(", ") : signs(k, n);
  story.classList.add("bml-story");
  story.setAttribute("role", "status");
  const restart = () => {
    exact = enumerate(machine, T, fixed);
    [counts, total] = [new Float64Array(2 ** n), 0];
    order = [...exact.keys()].sort((a, b) => exact[b] - exact[a] || a - b).slice(0, SHOWN);
    scale = [0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8].find((x) => x > exact[order[0]] * 1.1) || 1;
    order.forEach((k, r) => {
      rows[r].label.textContent = signs(k, n);
      showState(rows[r].state, k, colours);
      rows[r].sure.setAttribute("width", exact[k] / scale * wide);
    });
    for (const [f, tick] of ends) tick.textContent = +(f * scale).toFixed(2);
    story.textContent = "";
    show();
  };
  const clamp = (i) => {
    fixed[i] = { 0: 1, 1: -1, "-1": 0 }[fixed[i]];
    if (fixed[i]) s[i] = fixed[i];
    restart();
  };
  const set = (state) => {
    for (let i = 0; i < n; i++) if (!fixed[i]) s[i] = (state >> (n - 1 - i)) & 1 ? 1 : -1;
    story.textContent = "";
    show();
  };
  // Whose turn it is: its field, its chance of +1, and a coin
  const turn = () => {
    do unit = (unit + 1) % n; while (fixed[unit] && fixed.includes(0));
    if (fixed[unit]) return null;
    const h = field(machine, s, unit);
    return { h, p: chanceOfPlus(h, T), u: next() };
  };
  const chance = ({ h, p }) => `${names[unit]}: field ${signed(h, 2, "+")}, p(+1) = ${p.toFixed(3)}`;
  const taken = ({ p, u }) => {
    s[unit] = u < p ? 1 : -1;
    counts[numberOf(s)]++;
    return `is ${u < p ? "below" : "above"}, so it turns ${s[unit] > 0 ? "+1" : "−1"}.`;
  };
  const told = (coin, words) => plain
    ? `It is the turn of ${names[unit]}: all that pulls there adds up to ${signed(coin.h, 2, "+")}, ` +
      `so blue has a chance of ${Math.round(100 * coin.p)} %. The coin says ${s[unit] > 0 ? "blue" : "white"}.`
    : `${chance(coin)}. A number between 0 and 1 is drawn: u = ${coin.u.toFixed(3)}. It ${words}`;
  const update = (aloud = rate <= 20) => {
    const coin = turn();
    if (!coin) {
      story.textContent = "Every unit is held: nobody has a turn.";
      return;
    }
    const words = taken(coin);
    total++;
    if (aloud) story.textContent = told(coin, words);
  };

  const show = () => {
    story.setAttribute("aria-live", root.dataset.playing === "true" ? "off" : "polite");
    const share = (k) => counts[k] / (total || 1);
    showSigns(units, s, colours);
    units.forEach(({ g }, i) => {
      g.setAttribute("class", `bml-node${i === unit && rate <= 20 ? " bml-now" : ""}${fixed[i] ? " bml-fixed" : ""}`);
      g.setAttribute("aria-label", `${names[i]} is ${signed(s[i], 0, "+")}, ` +
        `${fixed[i] ? "held at " + fixed[i] : "free"}; press to change`);
    });
    order.forEach((k, r) => {
      rows[r].count.setAttribute("width", Math.min(1, share(k) / scale) * wide);
      rows[r].g.setAttribute("class", k === numberOf(s) ? "bml-row bml-now" : "bml-row");
      rows[r].g.setAttribute("aria-current", k === numberOf(s));
      rows[r].g.setAttribute("aria-label", `${name(k)}, probability ${exact[k].toFixed(3)}; press to set it`);
    });
    corners?.draw(exact, share, numberOf(s), scale);
    const distance = exact.reduce((d, p, k) => d + Math.abs(p - share(k)), 0) / 2;
    numbers.textContent = `${total.toLocaleString("en")} updates.   ` +
      (total ? `In total, ${(100 * distance).toFixed(1)} % of the probability is in the wrong place.` : "");
  };
  // Some turns to follow with the eye; then, if nobody has chosen a pace, fast enough to converge in ten seconds
  const step = (seconds) => {
    age += seconds;
    for (const [k, from] of [[2, 6], [4, 8]]) if (age - seconds < from && age >= from) {
      go(k);
      story.textContent = "Faster now, and each state that comes is counted: do the blue bars become the exact ones?";
    }
    if (age - seconds < 12 && age >= 12) story.textContent = "";  // by now it is no news
    due += seconds * rate;
    if (due < 1) return;
    for (; due >= 1; due--) update();
    show();
  };

  const key = note(["var(--ink)", "■", "exact"], [colours.gibbs, "■", "counted"],
    SHOWN < 2 ** n ? `the ${SHOWN} most probable of ${2 ** n} states, a sign for each unit`
      : "probability of each state");
  const shape = corners && choice("Show", ["bars", "cube"], 0, (k) => {
    bars.style.display = k ? "none" : "";
    corners.svg.style.display = k ? "" : "none";
  });
  if (corners) corners.svg.style.display = "none";
  const root = frame(el, "machine", make("p", { class: "bml-headline" }, model.get("headline")), make("div", { class: "bml-pair" }, make("div", { class: "bml-stage" }, svg),
    make("div", { class: "bml-column" }, bars, ...(shape ? [corners.svg] : []), key),
    make("div", { class: "bml-told" }, story, numbers)));
  const run = player(root, step), rates = [2, 10, 60, 600, 6000, 60000];
  const alone = (then) => () => { age = NaN; run.toggle(false); then(); };
  const pace = slider("updates a second", {
    min: 0, max: rates.length - 1, step: 1, value: 0, show: (k) => rates[k].toLocaleString("en"),
  }, (k) => {
    [rate, due, age] = [rates[k], 0, NaN];  // of one's own choice
    if (rate > 20) story.textContent = "";
  });
  const go = (k) => { [rate, due] = [rates[k], 0]; pace.set(k); };
  root.append(
    make("div", { class: "bml-buttons" }, run.control, button("One update", alone(() => { update(true); show(); })),
      button("Count anew", restart), choice("words", ["plain", "with numbers"], 0, (k) => { plain = !k; }).el, ...(shape ? [shape.el] : [])),
    make("div", { class: "bml-controls" },
      slider("temperature T", { min: 0.1, max: 5, step: 0.05, value: T, show: (v) => v.toFixed(2) },
        (v) => { T = v; restart(); }).el, pace.el),
    note("Press a unit: held at +1, at −1, free again; the bars become conditional. Press a bar: its state."));
  restart();
  return run.stop;
}

export default alive(mount);
