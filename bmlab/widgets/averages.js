// One unit among its neighbours, which flip, and among their averages, which settle: mean field beside Gibbs sampling.
function mount(model, el) {
  const machine = sentMachine(model), n = machine.names.length, middle = model.get("middle");
  const next = uniforms(model.get("seed")), s = Array.from({ length: n }, () => next() < 0.5 ? 1 : -1);
  const m = new Array(n).fill(0), reach = Math.max(1, Math.ceil(machine.weights[middle].reduce((sum, w) => sum +
    Math.abs(w), 0) + Math.abs(machine.biases[middle])));
  let T = model.get("temperature"), unit = -1, age = 0, due = 0, sum = 0, total = 0, fields = [], exact;

  const halves = [["Units flip: the field jitters", "gibbs"],
    ["Only their means: the field settles", "mean_field"]].map(([title, method]) => {
    const drawing = beliefs(machine, model, title), colour = colourOf(model, method);
    const axis = axes(360, 66, { x: [-reach, reach], y: [0, 1], xticks: [-reach, 0, reach],
      xlabel: "field of the middle unit", title: "Field of the middle unit" });
    const trail = axis.line({ stroke: colour, "stroke-opacity": 0.3 }), now = axis.add("circle", { r: 5, fill: colour });
    const put = (all) => {
      trail.setAttribute("d", all.map((h) => `M${axis.X(h)} ${axis.Y(0)}V${axis.Y(0.8)}`).join(""));
      now.setAttribute("cx", axis.X(all.at(-1)));
      now.setAttribute("cy", axis.Y(0.4));
    };
    return { drawing, put, el: make("div", { class: "bml-column" }, note(title), drawing.svg, axis.svg) };
  });
  const line = axes(720, 62, { x: [-1, 1], y: [0, 1], xticks: [-1, 0, 1], xlabel: "mean of the middle unit",
    title: "Mean of the middle unit" });
  const marks = [["exact", "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0"], ["gibbs", "m-4 -4h8v8h-8z"],
    ["mean_field", "m-5 5h10l-5 -10z"]].map(([method, shape]) => [line.add("path", { fill: colourOf(model, method),
    "fill-opacity": 0.85 }), shape]);
  const numbers = make("div");

  const show = () => {
    for (let i = 0; i < n; i++) {
      const kind = (i === middle ? "bml-fixed" : "") + (i === unit ? " bml-now" : "");
      halves[0].drawing.show(i, (1 + s[i]) / 2, signed(s[i], 0, "+"), { kind });
      halves[1].drawing.show(i, (1 + m[i]) / 2, signed(m[i], 2), { kind });
    }
    fields = [...fields.slice(-60), field(machine, s, middle)];
    halves[0].put(fields);
    halves[1].put([field(machine, m, middle)]);
    const means = total ? [exact, sum / total, m[middle]] : [exact];  // of this temperature
    marks.forEach(([mark, shape], k) => mark.setAttribute("d", k in means ? line.marks([[means[k], 0.5]], shape) : ""));
    const [sure, counted, averaged] = means.map((x) => signed(x, 2, "+"));
    numbers.replaceChildren(note(["var(--ink)", "●", `exact ${sure}`],
      [colourOf(model, "gibbs"), "■", total ? `counted ${counted}` : "counted: press Run"],
      [colourOf(model, "mean_field"), "▲", total ? `mean field ${averaged}` : "mean field: press Run"]));
  };
  // The same unit on both sides: a coin on the left, the mean of that coin on the right
  const update = () => {
    unit = (unit + 1) % n;
    sweep(machine, s, T, next, [unit]);
    m[unit] = Math.tanh(field(machine, m, unit) / T);
    total += 1;
    sum += s[middle];
  };
  const heat = (to) => {
    [T, sum, total] = [to, 0, 0];
    exact = 2 * chances(enumerate(machine, T, new Array(n).fill(0)), n)[middle] - 1;
    show();
  };
  const step = (seconds) => {
    age += seconds;
    due += seconds * (age < 5 ? 9 : 900);
    if (due < 1) return;
    for (; due >= 1; due--) update();
    show();
  };
  const root = frame(el, "averages", make("p", { class: "bml-headline" }, model.get("headline")),
    make("div", { class: "bml-pair" }, ...halves.map((half) => half.el)), line.svg, numbers);
  const run = player(root, step, { playing: false });
  root.append(make("div", { class: "bml-buttons" }, run.control,
    button("One update", () => { run.toggle(false); update(); show(); }),
    slider("temperature T", { min: 0.5, max: 6, step: 0.1, value: T, show: (v) => v.toFixed(1) }, heat).el));
  heat(T);
  return run.stop;
}

export default alive(mount);
