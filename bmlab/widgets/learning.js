// The climb of a likelihood, step by step: where data and free phase still differ, and what the weights become.
function mount(model, el) {
  const colours = model.get("colours"), names = model.get("names"), n = names.length;
  const own = colourOf(model, model.get("method")), AHEAD = 30, NUMBERED = 4, frames = [], pairs = [];
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) pairs.push([i, j]);
  const told = model.get("told");   // who reckons the likelihood, if not exact
  let at = 0, speed = 20, due = 0, end = "", picked = null;

  // Three matrices of pairs side by side: data, machine, weights
  const size = 250, room = n <= 20 ? 12 + 5.2 * Math.max(...names.map((name) => name.length)) : 14;
  const side = (size - room) / n, small = { class: "bml-tick", style: `font-size: ${Math.min(10, side)}px` };
  const pick = (pair) => { picked = pair; show(); };
  const matrix = (title, largest) => {
    const svg = make("svg:svg", { viewBox: `0 0 ${size} ${size + 16}`, role: "img", "aria-label": title });
    const add = (name, attributes, ...children) =>
      svg.appendChild(make("svg:" + name, attributes, ...children));
    add("text", { x: room, y: 10, class: "bml-title" }, title);
    add("rect", { x: room, y: 16, width: n * side, height: n * side, class: "bml-sheet" });
    names.forEach((name, k) => {
      if (n > 20) return;
      const middle = (k + 0.5) * side + 3;
      add("text", { ...small, x: room - 3, y: 16 + middle, "text-anchor": "end" }, name);
      const turned = `translate(${room + middle} ${19 + n * side}) rotate(-90)`;
      add("text", { ...small, transform: turned, "text-anchor": "end" }, name);
    });
    const cells = pairs.map(([i, j]) => [[i, j], [j, i]].map(([r, c]) => add("rect",
      { x: room + c * side, y: 16 + r * side, width: side - 0.5, height: side - 0.5 })));
    const numbers = n > NUMBERED ? [] : pairs.map(([i, j]) => [[i, j], [j, i]].map(([r, c]) =>
      add("text", { x: room + (c + 0.5) * side, y: 16 + (r + 0.5) * side + 6,
        "text-anchor": "middle", style: "font-size: 18px; fill: #222" })));
    const bare = add("text", { x: room + n * side / 2, y: 16 + n * side / 2, "text-anchor": "middle",
      class: "bml-title", style: "fill: #222" });
    const ring = add("rect", { width: side, height: side, class: "bml-picked" });
    for (const kind of ["pointermove", "pointerdown"]) svg.addEventListener(kind, (event) => {
      const box = svg.getBoundingClientRect(), scale = box.width / size;
      const [c, r] = [(event.clientX - box.left) / scale - room, (event.clientY - box.top) / scale - 16]
        .map((x) => Math.floor(x / side));
      const inside = r !== c && Math.min(r, c) >= 0 && Math.max(r, c) < n;
      if (inside) pick([Math.min(r, c), Math.max(r, c)]);
    });
    const draw = (values) => {
      const most = largest ?? (Math.max(...values.map(Math.abs)) || 1);
      values.forEach((w, k) => cells[k].forEach((cell) => {
        cell.setAttribute("fill", w > 0 ? colours.together : colours.apart);
        cell.setAttribute("rx", w > 0 ? 0 : side / 2);
        cell.setAttribute("fill-opacity", (Math.abs(w ?? 0) / most).toFixed(3));
      }));
      numbers.forEach((two, k) => two.forEach((text) => {
        text.textContent = values[k] === null ? "" : signed(values[k], 2, "+");
      }));
      const known = values.filter((w) => w !== null);
      bare.textContent = n <= NUMBERED || known.some((w) => Math.abs(w) > 5e-4) ? "" : known.length ? "all 0" : "not known";
      ring.setAttribute("visibility", picked ? "visible" : "hidden");
      if (picked) {
        ring.setAttribute("x", room + picked[1] * side);
        ring.setAttribute("y", 16 + picked[0] * side);
      }
    };
    return { svg, draw };
  };
  const clamped = matrix("awake: the data", 1), free = matrix("asleep: the dreams", 1), weights = matrix("weights");

  // The moments against each other
  const scatter = axes(230, 215, {
    x: [-1.05, 1.05], y: [-1.05, 1.05], xticks: [-1, 0, 1], yticks: [-1, 0, 1],
    xlabel: "awake (data)", ylabel: "asleep (dreams)", title: "Free moments against clamped ones",
  });
  scatter.line({ stroke: "var(--line)" }).setAttribute("d", scatter.path([[-1, -1], [1, 1]]));
  const squares = scatter.add("path", { fill: own, "fill-opacity": 0.8 });
  const circles = scatter.add("path", { fill: "var(--back)", stroke: own, "stroke-width": 1.3 });
  const pull = scatter.line({ class: "bml-pull" }), spot = scatter.add("circle", { r: 6, class: "bml-picked" });
  const dots = (xs, ys, shape) => scatter.marks(
    xs.map((x, k) => [x, ys[k]]).filter((point) => !point.includes(null)), shape);

  // The climb
  const trace = make("div"), heading = make("b", { class: "bml-step" }), numbers = make("span");
  const climb = () => {
    const known = frames.every((f) => f.log_likelihood !== null);
    const values = frames.map((f) => f[known ? "log_likelihood" : "mismatch"]);
    const top = values.reduce((a, b) => Math.max(a, b)), low = known ? values.reduce((a, b) => Math.min(a, b)) : 0;
    const margin = (top - low || 1) * 0.08;
    const chart = axes(440, 140, {
      x: [0, Math.max(frames.length - 1, 1)], y: [low - (known ? margin : 0), top + margin],
      xticks: [0, frames.length - 1], yticks: [low, top],
      xlabel: "step", ylabel: known ? "log p (nats)" : "mismatch", title: "The climb" + (known ? told : ""),
    });
    chart.line({ stroke: own }).setAttribute("d", chart.path(values.map((v, k) => [k, v])));
    climb.dot = chart.add("circle", { r: 5, fill: own });
    climb.move = () => {
      climb.dot.setAttribute("cx", chart.X(at));
      climb.dot.setAttribute("cy", chart.Y(values[at]));
    };
    trace.replaceChildren(chart.svg);
  };

  // The pair that is looked at: by pointer, or by arrow keys
  const words = make("p", { class: "bml-note bml-pair-words", role: "status" });
  const look = (f) => {
    const known = picked && pairs.findIndex(([i, j]) => i === picked[0] && j === picked[1]);
    const [x, y] = picked ? [f.clamped_pairs[known], f.free_pairs[known]] : [null, null];
    for (const mark of [pull, spot]) mark.setAttribute("visibility", x === null || y === null ? "hidden" : "visible");
    if (!picked) {
      words.textContent = "Press a weight: it says how its pair stands in the data and in the machine's dreams.";
      return;
    }
    const pairName = picked.map((k) => names[k]).join(" and ");
    if (x !== null && y !== null) {
      pull.setAttribute("d", scatter.path([[x, y], [x, x]]));
      spot.setAttribute("cx", scatter.X(x));
      spot.setAttribute("cy", scatter.Y(y));
    }
    const number = (v) => v === null ? "unknown" : signed(v, 2, "+");
    words.textContent = `${pairName}: ${number(x)} in the data, ${number(y)} in the machine's dreams; ` +
      `pull ${x === null || y === null ? "unknown" : signed(x - y, 2, "+")}; weight ${number(f.weights[known])}.`;
  };
  const show = () => {
    const f = frames[at];
    if (!f) return;
    words.setAttribute("aria-live", root.dataset.playing === "true" ? "off" : "polite");
    squares.setAttribute("d", dots(f.clamped_pairs, f.free_pairs, "m-2.5 -2.5h5v5h-5z"));
    circles.setAttribute("d", dots(f.clamped_means, f.free_means, "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0"));
    clamped.draw(f.clamped_pairs);
    free.draw(f.free_pairs);
    weights.draw(f.weights);
    climb.move();
    look(f);
    const known = f.log_likelihood !== null, last = at === frames.length - 1 ? end : "";
    const failed = f.converged ? "" : ";   the free phase has NOT CONVERGED";
    heading.textContent = `Step ${at}`;
    numbers.textContent = ".   " + (known ? `Log-likelihood${told} ${signed(f.log_likelihood, 3)} nats a pattern;   ` : "") +
      `largest mismatch ${f.mismatch.toFixed(3)}${failed}.   ${last}`;
  };
  const go = (to) => {
    at = Math.max(0, Math.min(to, frames.length - 1));
    scrub.set(at);
    if (at + AHEAD >= frames.length && !end) kernel.ask({ from: frames.length, to: frames.length + AHEAD });
    show();
  };
  const step = (seconds) => {
    due += speed * seconds;
    if (due >= 1) { go(at + Math.floor(due)); due %= 1; }
    if (end && at === frames.length - 1) run.toggle(false);
  };

  const scrub = slider("step", { min: 0, max: 1, step: 1, value: 0 }, (k) => { run.toggle(false); go(k); });
  const three = make("div", { class: "bml-three", tabindex: 0, role: "group",
    "aria-label": "Pairs of units; arrow keys go from pair to pair." }, clamped.svg, free.svg, weights.svg);
  const moves = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };
  three.addEventListener("keydown", (event) => {
    if (!moves[event.key] || !pairs.length) return;
    event.preventDefault();
    const now = picked ? pairs.findIndex(([i, j]) => i === picked[0] && j === picked[1]) : -1;
    pick(pairs[(now + moves[event.key] + pairs.length) % pairs.length]);
  });
  const buttons = make("div", { class: "bml-buttons" });
  const root = frame(el, "learning", make("p", { class: "bml-headline" }, model.get("headline")),
    make("div", { class: "bml-pair" },
      make("div", { class: "bml-squares" }, three, note([colours.together, "■", "together"], [colours.apart, "●", "apart"])),
      make("div", { class: "bml-half" }, scatter.svg, note([own, "■", "correlations"], [own, "○", "means"]))),
    buttons, make("div", { class: "bml-pair" }, make("div", { class: "bml-half" }, trace),
      make("div", { class: "bml-column" }, make("p", { class: "bml-note" }, heading, numbers), words)));
  const kernel = asker(model, root, (answer) => {
    if (answer.from !== frames.length) return;
    frames.push(...answer.frames);
    end = answer.end;
    scrub.input.max = Math.max(frames.length - 1, 1);
    climb();
    show();
  });
  const run = player(root, step, { playing: false });
  buttons.append(run.control, button("Step", () => { run.toggle(false); go(at + 1); }),
    button("Back to the start", () => go(0)), scrub.el,
    slider("steps a second", { min: 1, max: 60, step: 1, value: speed }, (v) => { speed = v; }).el);
  kernel.ask({ from: 0, to: AHEAD });
  return () => { run.stop(); kernel.stop(); };
}

export default alive(mount);
