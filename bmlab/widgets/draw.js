// Draw patterns of your own: a machine learns them in the page, dreams them, and completes what you begin.
function mount(model, el) {
  const [H, W] = model.get("shape"), n = H * W, colours = model.get("colours"), MOST = 20;
  const next = uniforms(model.get("seed")), patterns = model.get("patterns").map((p) => [...p]);
  let mind = learner(n, next), pen = 1, mode = 0, T = 1, due = 0, teaching = false;
  const drawn = new Array(n).fill(-1), begun = new Array(n).fill(0);

  // Thirty dreams side by side.  With each sweep the oldest begins anew in noise: at a low temperature a chain that has
  // found a pattern stays in it.
  const DREAMS = 30, ACROSS = 6, noise = () => Array.from({ length: n }, () => next() < 0.5 ? 1 : -1);
  const dreams = Array.from({ length: DREAMS }, noise);
  const sheet = make("canvas", { width: ACROSS * (W + 1) - 1, height: DREAMS / ACROSS * (H + 1) - 1, role: "img",
    "aria-label": "Thirty dreams of the machine, each begun in noise" });
  let oldest = 0;
  const dream = () => {
    dreams[oldest] = noise();
    oldest = (oldest + 1) % DREAMS;
    for (const s of dreams) sweep(mind.machine, s, T, next);
  };
  const hang = () => dreams.forEach((s, k) => stamp(sheet, s.map((x) => x > 0 ? colours.gibbs : colours.paper),
    [k % ACROSS * (W + 1), Math.floor(k / ACROSS) * (H + 1)], W));

  // The pad: what is drawn, or what is begun and completed
  let answers = [];
  const mean = (i) => answers.reduce((sum, s) => sum + s[i], 0) / (answers.length || 1);
  const colour = (i) => {
    if (mode === 0) return drawn[i] > 0 ? INK : WHITE;
    return begun[i] ? (begun[i] > 0 ? INK : WHITE) : mix(colours.paper, colours["mean field"], (mean(i) + 1) / 2);
  };
  const put = (r, c) => {
    (mode === 2 ? begun : drawn)[Math.floor(r) * W + Math.floor(c)] = pen;
    paint();
  };
  const named = (i) => {
    const unit = (mode === 2 ? begun : drawn)[i];
    return unit > 0 ? "ink" : unit < 0 ? "paper" : "unknown";
  };
  const { canvas, spoken, paint: draw } = pad([H, W], { size: 300, ring: colours.gibbs, colour, named, put });
  const paint = () => { if (mode === 1) hang(); else draw(); };

  // The patterns that it learns, and its weights: a row and a column for each pixel
  const shelf = make("div", { class: "bml-shelf" }), words = make("p", { class: "bml-note", role: "status" });
  const thumb = (pattern) =>
    stamp(make("canvas", { width: W, height: H }), pattern.map((x) => x > 0 ? INK : WHITE));
  const forget = () => { mind = learner(n, next); show(); };
  const arrange = () => {
    shelf.replaceChildren(...patterns.map((pattern, k) => {
      const away = () => { patterns.splice(k, 1); arrange(); };
      const take = button("", away, { "aria-label": `Take pattern ${k + 1} away` });
      take.append(thumb(pattern));
      return take;
    }));
    words.textContent = patterns.length < 2 ? "Draw two patterns or more, and keep each; five to twenty are best."
      : `${patterns.length} patterns. Press one to take it away.`;
    if (patterns.length < 2) teaching = false;
    show();
  };
  const map = make("canvas", { width: n, height: n, role: "img", "aria-label": "The weights, pixel by pixel" });
  const mapped = map.getContext("2d"), numbers = note();
  const show = () => {
    const most = Math.max(...mind.machine.weights.map((row) => Math.max(...row.map(Math.abs))));
    const image = mapped.createImageData(n, n), ends = [colours.apart, colours.together].map(rgb);
    mind.machine.weights.forEach((row, i) => row.forEach((w, j) => {
      const strong = Math.abs(w) / (most || 1), end = ends[w > 0 ? 1 : 0];
      end.forEach((x, k) => { image.data[4 * (i * n + j) + k] = 255 + strong * (x - 255); });
      image.data[4 * (i * n + j) + 3] = 255;
    }));
    mapped.putImageData(image, 0, 0);
    numbers.textContent = `Step ${mind.steps.toLocaleString("en")}; largest weight ${most.toFixed(2)}; ` +
      `clamped and free differ by ${mind.steps ? mind.mismatch.toFixed(2) : "?"} at most.`;
    learn.setAttribute("aria-pressed", teaching);
    learn.textContent = teaching ? "Stop learning" : "Learn";
    paint();
  };
  const complete = () => {
    const free = begun.flatMap((x, i) => x ? [] : [i]);
    if (answers.length !== 40) answers = Array.from({ length: 40 }, () => begun.map(() => next() < 0.5 ? 1 : -1));
    for (const s of answers) {
      begun.forEach((x, i) => { if (x) s[i] = x; });
      sweep(mind.machine, s, T, next, free);
    }
  };
  const step = (seconds) => {
    if (teaching) for (let k = 0; k < 2; k++) mind.step(patterns);
    due += seconds * 8;
    if (mode === 1 && due >= 1) { dream(); due %= 1; }
    if (mode === 2) complete();
    if (teaching) show();
    else if (mode) paint();
  };

  const teach = () => { teaching = !teaching && patterns.length > 1; show(); };
  const learn = button("Learn", teach, { class: "bml-primary" });
  const modes = choice("Paper", ["draw", "dream", "complete"], 0, (k) => pick(k));
  const pick = (k) => {
    mode = k;
    canvas.style.display = k === 1 ? "none" : "";
    sheet.style.display = k === 1 ? "" : "none";
    paint();
  };
  const pens = choice("Pen", ["ink", "paper"], 0, (k) => { pen = k ? -1 : 1; });
  const keep = button("Keep this pattern", () => {
    if (patterns.length < MOST) patterns.push([...drawn]);
    drawn.fill(-1);
    arrange();
  });
  const root = frame(el, "draw", make("div", { class: "bml-pair" },
    make("div", { class: "bml-stage" }, modes.el, canvas, sheet, spoken, pens.el,
      make("div", { class: "bml-buttons" }, keep, button("Clear", () => { drawn.fill(-1); begun.fill(0); paint(); }))),
    make("div", { class: "bml-column" }, shelf, words,
      make("div", { class: "bml-buttons" }, learn, button("Forget all", forget)),
      make("div", { class: "bml-map" }, map), numbers,
      note("Weights, pixel by pixel:   ", [colours.together, "■", "together"], [colours.apart, "■", "apart"]))),
    make("div", { class: "bml-controls" },
      slider("temperature of the dream", { min: 0.2, max: 3, step: 0.05, value: 1, show: (v) => v.toFixed(2) },
        (v) => { T = v; }).el));
  const run = player(root, step);
  pick(0);
  arrange();
  return run.stop;
}

export default alive(mount);
