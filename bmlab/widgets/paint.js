// Draw a digit: the machines complete it and say which of them would have drawn it.
function mount(model, el) {
  const [H, W] = model.get("shape"), colours = model.get("colours"), names = model.get("names");
  const known = model.get("start"), blank = known.map(() => 0), brush = H > 12 ? 1.1 : 0.5;
  const floats = (name) => {
    const bytes = model.get(name);
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  };
  const machines = readers({ weights: floats("weights"), biases: floats("biases"), logZ: model.get("log_z") });
  let tool = 1, answer = null, cursor = [H >> 1, W >> 1], request = 0;

  const cell = Math.floor(480 / W);
  const canvas = make("canvas", {
    width: W * cell, height: H * cell, tabindex: 0, role: "application",
    "aria-label": `Paper of ${H} by ${W} pixels. Arrow keys move, space draws.`,
  });
  const paper = canvas.getContext("2d");
  const rgb = (css) => css.match(/\w\w/g).map((x) => parseInt(x, 16));
  const mix = (a, b, t) => `rgb(${rgb(a).map((x, k) => Math.round(x + t * (rgb(b)[k] - x)))})`;
  const INK = "#222222", shade = (mean) => mix(colours.paper, colours["mean field"], (mean + 1) / 2);
  const draw = () => {
    for (let i = 0; i < H * W; i++) {
      const [x, y] = [(i % W) * cell, Math.floor(i / W) * cell];
      const expected = answer ? shade(answer.mean[i]) : colours.paper;
      paper.fillStyle = { 1: INK, 0: expected, "-1": "#ffffff" }[known[i]];
      paper.fillRect(x, y, cell, cell);
      if (known[i] < 0 && cell > 20) {
        paper.fillStyle = "#999999";
        paper.fillRect(x + cell / 2 - 2, y + cell / 2 - 2, 4, 4);
      }
    }
    paper.strokeStyle = "rgba(0, 0, 0, 0.12)";
    paper.lineWidth = 1;
    for (let k = 1; k < W && cell > 20; k++) paper.strokeRect(k * cell, -1, W * cell, H * cell + 2);
    for (let k = 1; k < H && cell > 20; k++) paper.strokeRect(-1, k * cell, W * cell + 2, H * cell);
    if (document.activeElement === canvas && canvas.matches(":focus-visible")) {
      paper.strokeStyle = colours.gibbs;
      paper.lineWidth = 3;
      paper.strokeRect(cursor[1] * cell + 2, cursor[0] * cell + 2, cell - 4, cell - 4);
    }
  };

  // The readers: each with what it would complete, and its probability
  const rows = names.map((name) => {
    const small = make("canvas", { width: W, height: H, class: "thumb", "aria-hidden": "true" });
    const bar = make("span", { class: "bar", style: `background: ${colours["mean field"]}` });
    const lane = make("span", { class: "lane" }, bar), share = make("output");
    return { row: make("div", { class: "reader" }, make("b", {}, name), small, lane, share), small, bar, share };
  });
  const verdict = make("p", { class: "caption", role: "status" });
  const read = () => rows.forEach(({ row, small, bar, share }, k) => {
    const context = small.getContext("2d");
    answer.means[k].forEach((m, i) => {
      context.fillStyle = mix(colours.paper, INK, (m + 1) / 2);
      context.fillRect(i % W, Math.floor(i / W), 1, 1);
    });
    bar.style.width = 100 * answer.p[k] + "%";
    share.textContent = answer.p[k].toFixed(2);
    row.classList.toggle("best", k === answer.best);
  });

  const put = (r, c) => {
    for (let i = 0; i < H * W; i++) {
      const far = Math.max(Math.abs(Math.floor(i / W) + 0.5 - r), Math.abs(i % W + 0.5 - c));
      if (far <= brush) known[i] = tool;
    }
    ask();
  };
  dragging(canvas, (x, y) => put(y * H, x * W));
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    const by = moves[event.key];
    if (!by && event.key !== " ") return;
    event.preventDefault();
    if (by) cursor = [(cursor[0] + by[0] + H) % H, (cursor[1] + by[1] + W) % W];
    else put(cursor[0] + 0.5, cursor[1] + 0.5);
    draw();
  });
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, draw);

  const tools = [["Ink", 1], ["Paper", -1], ["Unknown", 0]].map(([name, value]) => {
    const pick = button(name, () => {
      tool = value;
      tools.forEach((t) => t.setAttribute("aria-pressed", t === pick));
    }, { "aria-pressed": value === 1 });
    return pick;
  });
  const fill = (values) => { values.forEach((x, i) => { known[i] = x; }); ask(); };
  const root = frame(el, "paint", verdict, make("div", { class: "pair" },
    make("div", { class: "stage" }, canvas), make("div", { class: "column readers" }, ...rows.map((r) => r.row))),
    make("div", { class: "buttons" }, ...tools, button("Rest is paper", () => fill(known.map((x) => x || -1))),
      button("Clear", () => fill(blank))),
    note("Black and white pixels are yours; orange is what the machines expect in the others."));

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
    draw();
    read();
    if (request) return;
    const sure = answer.p[answer.best].toFixed(2);
    verdict.textContent = known.some((x) => x) ? `It reads ${names[answer.best]}, with probability ${sure}.` : "Draw.";
  };
  draw();
  ask();
  return () => cancelAnimationFrame(request);
}

export default alive(mount);
