// Draw a digit: the machines complete it and say which of them would have drawn it.
function mount(model, el) {
  const [H, W] = model.get("shape"), colours = model.get("colours"), names = model.get("names");
  const INK = colours.gibbs, WHITE = "#ffffff";
  const known = model.get("start"), blank = known.map(() => 0), brush = H > 12 ? 1.1 : 0.5;
  const floats = (name) => {
    const bytes = model.get(name);
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  };
  const machines = readers({ weights: floats("weights"), biases: floats("biases"), logZ: model.get("log_z") });
  let tool = 1, answer = null, request = 0;

  const shade = (mean) => mix(colours.minus, colours.mean_field, (mean + 1) / 2);
  const colour = (i) => ({ 1: INK, 0: answer ? shade(answer.mean[i]) : colours.open, "-1": WHITE })[known[i]];
  const put = (r, c) => {
    for (let i = 0; i < H * W; i++) {
      const far = Math.max(Math.abs(Math.floor(i / W) + 0.5 - r), Math.abs(i % W + 0.5 - c));
      if (far <= brush) known[i] = tool;
    }
    ask();
  };
  const { canvas, spoken, paint } = pad([H, W], { size: 480, ring: colours.mean_field, colour,
    dot: (i) => known[i] < 0,
    hatched: (i) => known[i] ? null : colours.hatched,
    named: (i) => ({ 1: "ink", 0: "unknown", "-1": "paper" })[known[i]], put });

  // The readers: each with what it would complete, and its probability
  const rows = names.map((name) => {
    const small = make("canvas", { width: W, height: H, class: "bml-thumb", "aria-hidden": "true" });
    const bar = make("span", { class: "bml-bar", style: `background: ${colours.mean_field}` });
    const lane = make("span", { class: "bml-lane" }, bar), share = make("span", { class: "bml-share" });
    return { row: make("div", { class: "bml-reader" }, make("b", {}, name), small, lane, share), small, bar, share };
  });
  const verdict = make("p", { class: "bml-headline", role: "status" });
  const read = () => rows.forEach(({ row, small, bar, share }, k) => {
    stamp(small, answer.means[k].map((m) => mix(colours.minus, INK, (m + 1) / 2)));
    bar.style.width = 100 * answer.p[k] + "%";
    share.textContent = answer.p[k].toFixed(2);
    row.classList.toggle("bml-best", k === answer.best);
  });

  const tools = [["Ink", 1], ["Paper", -1], ["Unknown", 0]].map(([name, value]) => {
    const pick = button(name, () => {
      tool = value;
      tools.forEach((t) => t.setAttribute("aria-pressed", t === pick));
    }, { "aria-pressed": value === 1 });
    return pick;
  });
  const fill = (values) => { values.forEach((x, i) => { known[i] = x; }); ask(); };
  const root = frame(el, "paint", verdict, make("div", { class: "bml-pair" },
    make("div", { class: "bml-stage" }, canvas, spoken),
    make("div", { class: "bml-column bml-readers" }, ...rows.map((r) => r.row))),
    make("div", { class: "bml-buttons" }, ...tools, button("Rest is paper", () => fill(known.map((x) => x || -1))),
      button("Clear", () => fill(blank))),
    note("Blue and white pixels are yours; in those that are hatched, green is what the machines expect."));

  // A drawing is read in the page: as many sweeps a frame as the frame has time for, until nothing moves.
  const SWEEPS = 200, FRAME = 10;                                   // at most; milliseconds
  let sweeps = 0;
  const ask = () => {
    machines.begin(known);
    sweeps = 0;
    request ||= requestAnimationFrame(work);
  };
  const work = () => {
    const begun = performance.now();
    let more = true;
    while (more && sweeps < SWEEPS && performance.now() - begun < FRAME) { more = machines.sweep(); sweeps++; }
    request = more && sweeps < SWEEPS ? requestAnimationFrame(work) : 0;
    answer = machines.answer(H * W);
    paint();
    read();
    if (request) return;
    const sure = answer.p[answer.best].toFixed(2);
    verdict.textContent = known.some((x) => x) ? `It reads ${names[answer.best]}, with probability ${sure}.` : "Draw.";
  };
  paint();
  ask();
  return () => cancelAnimationFrame(request);
}

export default alive(mount);
