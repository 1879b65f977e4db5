// One turn of Gibbs sampling after the other: u falls on the line from 0 to 1, which is cut at p(+1).
function mount(model, el) {
  const machine = { weights: model.get("weights"), biases: model.get("biases") }, n = machine.biases.length;
  const T = model.get("temperature"), colours = model.get("colours"), next = uniforms(model.get("seed"));
  const names = machine.biases.map((_, i) => model.get("names")[i] ?? `unit ${i}`), s = names.map((_, i) => i ? -1 : 1);
  const exact = enumerate(machine, T, new Array(n).fill(0)), counts = new Float64Array(2 ** n);
  let unit = Math.min(1, n - 1), u = null, total = 0, due = 0, rate = 0.5;

  const { svg, units } = graph(model.get("drawn"), colours, (i) => { s[i] = -s[i]; u = null; show(); });

  // The line and the bars below it, as in update.py
  const FROM = 20, WIDE = 360, LINE = 40, FLOOR = 244, TALL = 120, step = WIDE / 2 ** n;
  const scale = TALL / Math.max(...exact) / 1.25, text = (x, y, more = {}) => word(x, y, "", more);
  const chart = make("svg:svg", { viewBox: "0 0 400 290", role: "group", "aria-label": "The line, and the states" });
  const part = (fill) => make("svg:rect", { x: FROM, y: LINE, height: 20, width: WIDE, fill, class: "bml-cut" });
  const [minus, plus] = [part(colours.minus), part(colours.gibbs)], inside = { style: "font-size: 13px; fill: white" };
  const [up, down, cut] = [text(0, LINE + 15, inside), text(0, LINE + 15, { style: "font-size: 13px; fill: #222" }),
    text(0, LINE + 37)];
  const drop = make("svg:circle", { r: 6, class: "bml-drop" }), told = text(0, LINE - 6, { "text-anchor": "start" });
  const hit = make("svg:rect", { x: FROM, y: 0, width: WIDE, height: LINE + 44, class: "bml-spot",
    onclick: (event) => {
      const box = minus.getBoundingClientRect();
      run.toggle(false);
      if (u !== null) pass();
      fall(Math.max(0, Math.min((event.clientX - box.left) / box.width, 1 - 2 ** -53)));
      show();
    } });
  const caption = text(FROM, FLOOR - TALL - 2, { "text-anchor": "start" });
  chart.append(minus, plus, up, down, cut, word(FROM, LINE + 37, "0"), word(FROM + WIDE, LINE + 37, "1"), told, drop, hit,
    caption);
  const bars = Array.from(exact, (p, k) => {
    const x = FROM + step * (k + 0.5), place = { x: x - 0.3 * step, width: 0.6 * step };
    const bar = make("svg:rect", { ...place, fill: colours.gibbs, class: "bml-count" });
    const glyph = discs(n, x, FLOOR + 24, Math.max(20, Math.min(30, 0.72 * step)));
    showState(glyph, k, colours);
    chart.append(bar, make("svg:rect", { ...place, y: FLOOR - scale * p, height: scale * p, class: "bml-outline" }), ...glyph);
    return bar;
  });

  const story = note();
  story.classList.add("bml-said");
  story.setAttribute("role", "status");
  const pass = () => { [unit, u] = [(unit + 1) % n, null]; };
  const chance = () => chanceOfPlus(field(machine, s, unit), T);
  const fall = (to) => {
    u = to;
    s[unit] = u < chance() ? 1 : -1;
    counts[numberOf(s)]++;
    total++;
  };
  const show = () => {
    story.setAttribute("aria-live", root.dataset.playing === "true" ? "off" : "polite");
    const h = field(machine, s, unit), p = chance(), x = FROM + WIDE * p;
    showSigns(units, s, colours);
    units.forEach(({ g }, i) => {
      g.setAttribute("class", `bml-node${i === unit ? " bml-now" : ""}`);
      g.setAttribute("aria-label", `${names[i]} is ${signed(s[i], 0, "+")}; press to turn it over`);
    });
    plus.setAttribute("width", WIDE * p);
    for (const [el, at, words] of [[up, FROM + WIDE * p / 2, p > 0.06 ? "+1" : ""],
      [down, (x + FROM + WIDE) / 2, p < 0.94 ? "−1" : ""], [cut, Math.max(98, Math.min(x, 302)), `p(+1) = ${p.toFixed(3)}`]]) {
      el.setAttribute("x", at);
      el.textContent = words;
    }
    const side = u < p ? "below" : "above", fallen = FROM + WIDE * (u ?? 0.5);
    drop.style.transform = `translate(${fallen}px, ${u === null ? 8 : LINE - 7}px)`;
    told.setAttribute("x", u > 0.45 ? fallen - 12 : fallen + 12);
    told.setAttribute("text-anchor", u > 0.45 ? "end" : "start");
    told.textContent = u === null ? "where will u fall?" : `u = ${u.toFixed(3)}`;
    story.textContent = `It is the turn of ${names[unit]}: field ${signed(h, 2, "+")}.\n` +
      (u === null ? "" : `u is ${side} the cut: ${names[unit]} turns ${s[unit] > 0 ? "+1" : "−1"}.`);
    caption.textContent = `${total.toLocaleString("en")} turns counted; outlines: exact`;
    bars.forEach((bar, k) => {
      const height = Math.min(TALL, scale * counts[k] / (total || 1));
      bar.setAttribute("y", FLOOR - height);
      bar.setAttribute("height", height);
    });
    other.textContent = u === null ? "Drop u" : "Next unit";
  };
  const advance = () => { if (u === null) fall(next()); else pass(); };
  const play = (seconds) => {
    due += 2 * rate * seconds;              // u falls, and the next unit has its turn
    if (due < 1) return;
    for (; due >= 1; due--) advance();
    show();
  };
  const root = frame(el, "update", make("p", { class: "bml-headline" }, model.get("headline")),
    make("div", { class: "bml-pair" }, make("div", { class: "bml-stage" }, svg),
      make("div", { class: "bml-column" }, story, chart)));
  const run = player(root, play, { playing: false }), rates = [0.5, 2, 10, 100, 1000];
  const other = button("", () => { run.toggle(false); advance(); show(); });
  const pace = slider("turns a second", { min: 0, max: rates.length - 1, step: 1, value: 0, show: (k) =>
    rates[k].toLocaleString("en") }, (k) => {
    [rate, due] = [rates[k], 0];
    drop.style.transition = rate > 2 ? "none" : "";
  });
  root.append(make("div", { class: "bml-buttons" }, run.control, other, pace.el));
  show();
  return run.stop;
}

export default alive(mount);
