// The climb of a likelihood, step by step: where data and free phase still differ, and what the weights become.
function mount(model, el) {
  const colours = model.get("colours"), n = model.get("units"), own = colourOf(model, model.get("method"));
  const AHEAD = 30, frames = [];
  let at = 0, speed = 1, due = 0, done = false;

  const scatter = axes(300, 300, {
    x: [-1.05, 1.05], y: [-1.05, 1.05], xticks: [-1, 0, 1], yticks: [-1, 0, 1],
    xlabel: "clamped to the data", ylabel: "free", title: "Free moments against clamped ones",
  });
  scatter.line({ stroke: "var(--line)" }).setAttribute("d", scatter.path([[-1, -1], [1, 1]]));
  const pairs = scatter.add("path", { fill: own, "fill-opacity": 0.8 });
  const means = scatter.add("path", { fill: "var(--back)", stroke: own, "stroke-width": 1.3 });
  const dots = (xs, ys, shape) => scatter.marks(
    xs.map((x, k) => [x, ys[k]]).filter((point) => !point.includes(null)), shape);

  const side = 240 / n;
  const matrix = make("svg:svg", { viewBox: "0 0 244 244", role: "img", "aria-label": "The weights" });
  const cells = [];
  matrix.append(make("svg:rect", { x: 1, y: 1, width: 242, height: 242, fill: "white", stroke: "var(--line)" }));
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) {
    cells.push([[i, j], [j, i]].map(([r, c]) => matrix.appendChild(make("svg:rect",
      { x: 2 + c * side, y: 2 + r * side, width: side - 0.5, height: side - 0.5 }))));
  }
  const trace = make("div"), heading = make("p", { class: "caption" }), largest = note();
  const numbers = note();

  const climb = () => {
    const known = frames.every((f) => f.log_likelihood !== null);
    const name = known ? "log_likelihood" : "mismatch", values = frames.map((f) => f[name]);
    const [low, high] = [known ? Math.min(...values) : 0, Math.max(...values)], room = (high - low || 1) * 0.08;
    const chart = axes(Math.max(root.clientWidth, 300), 150, {
      x: [0, Math.max(frames.length - 1, 1)], y: [low - (known ? room : 0), high + room],
      xticks: [0, frames.length - 1], yticks: [low, high],
      xlabel: "step", ylabel: known ? "log p (nats)" : "mismatch", title: "The climb",
    });
    chart.line({ stroke: own }).setAttribute("d", chart.path(values.map((v, k) => [k, v])));
    climb.dot = chart.add("circle", { r: 5, fill: own });
    climb.move = () => {
      climb.dot.setAttribute("cx", chart.X(at));
      climb.dot.setAttribute("cy", chart.Y(values[at]));
    };
    trace.replaceChildren(chart.svg);
  };
  const show = () => {
    const f = frames[at];
    if (!f) return;
    pairs.setAttribute("d", dots(f.clamped_pairs, f.free_pairs, "m-2.5 -2.5h5v5h-5z"));
    means.setAttribute("d", dots(f.clamped_means, f.free_means, "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0"));
    const most = Math.max(...f.weights.map(Math.abs)) || 1;
    f.weights.forEach((w, k) => cells[k].forEach((cell) => {
      cell.setAttribute("fill", w > 0 ? colours.together : colours.apart);
      cell.setAttribute("rx", w > 0 ? 0 : side / 2);
      cell.setAttribute("fill-opacity", (Math.abs(w) / most).toFixed(3));
    }));
    climb.move();
    heading.textContent = `Step ${at}`;
    largest.replaceChildren(...note([colours.together, "■", "together"], [colours.apart, "●", "apart"],
      `largest weight ${most.toFixed(2)}`).childNodes);
    const known = f.log_likelihood !== null;
    numbers.textContent = (known ? `Log-likelihood ${signed(f.log_likelihood, 3)} nats a pattern;   ` : "") +
      `largest mismatch ${f.mismatch.toFixed(3)}${f.converged ? "" : ";   the free phase has NOT CONVERGED"}`;
  };
  const go = (to) => {
    at = Math.max(0, Math.min(to, frames.length - 1));
    scrub.set(at);
    if (at + AHEAD >= frames.length && !done) kernel.ask({ from: frames.length, to: frames.length + AHEAD });
    show();
  };
  const step = () => {
    due += speed / 60;
    if (due >= 1) { go(at + Math.floor(due)); due %= 1; }
    if (done && at === frames.length - 1) run.toggle(false);
  };

  const scrub = slider("step", { min: 0, max: 1, step: 1, value: 0 }, (k) => { run.toggle(false); go(k); });
  const left = make("div", { class: "half" }, scatter.svg, note([own, "■", "correlations"], [own, "○", "means"]));
  const right = make("div", { class: "half" }, matrix, largest);
  const root = frame(el, "learning", heading, make("div", { class: "pair" }, left, right), trace, numbers);
  const kernel = asker(model, root, (answer) => {
    if (answer.from !== frames.length) return;
    frames.push(...answer.frames);
    done = answer.done;
    scrub.input.max = frames.length - 1;
    climb();
    show();
  });
  const run = player(root, step);
  root.append(
    make("div", { class: "buttons" }, run.control, button("Step", () => { run.toggle(false); go(at + 1); }),
      button("Back to the start", () => go(0))),
    make("div", { class: "controls" }, scrub.el,
      slider("steps a second", { min: 1, max: 60, step: 1, value: 20 }, (v) => { speed = v; }).el));
  speed = 20;
  kernel.ask({ from: 0, to: AHEAD });
  return () => { run.stop(); kernel.stop(); };
}

export default alive(mount);
