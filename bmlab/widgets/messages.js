// Belief propagation: messages to the root and back; on a tree the beliefs are then exact, round a loop they are not.
function mount(model, el) {
  const machine = sentMachine(model), { names, weights, places } = machine, n = names.length;
  const T = model.get("temperature"), bridge = model.get("bridge"), colour = colourOf(model, "bethe");
  const told = new Map(), arrows = new Map(), story = note();
  let root = 0, queue, at, rounds, change, due, exact, last;
  story.setAttribute("role", "status");
  const drawing = beliefs(machine, model, "The machine", (i) => { root = i; begin(); run.toggle(true); });
  const dot = make("svg:circle", { r: 8, fill: colour, class: "bml-walker" });
  const sure = drawing.units.map(({ write }) => write(1, "", "bml-soft"));
  drawing.svg.append(dot);
  // An arrow beside the line from i to j
  const arrow = (i, j) => {
    const [[x1, y1], [x2, y2]] = [places[i], places[j]], far = Math.hypot(x2 - x1, y2 - y1);
    const turn = Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI;
    return make("svg:path", { d: `M${far / 2 - 11} 12h22m-7 -5l7 5l-7 5`, fill: "none", stroke: colour, "stroke-width": 2,
      transform: `translate(${x1} ${y1}) rotate(${turn})` });
  };
  const show = () => {
    const believed = names.map((_, i) => Math.tanh(heardBy(machine, T, told, i)));
    names.forEach((name, i) => {
      const known = weights[i].every((w, k) => !w || told.has(`${k} ${i}`));
      drawing.show(i, known ? (1 + believed[i]) / 2 : null, known ? signed(believed[i], 2) : "", {
        kind: i === root ? "bml-fixed" : "",
        says: `${known ? "mean " + signed(believed[i], 2) : "not known yet"}, exact ${signed(exact[i], 2)}; ` +
          "press to make it the root" });
    });
    const [from, to] = queue[at] ?? [root, root], way = Math.min(due, 1);
    dot.setAttribute("visibility", at < queue.length && due ? "visible" : "hidden");
    dot.setAttribute("transform", `translate(${[0, 1].map((k) => places[from][k] * (1 - way) + places[to][k] * way)})`);
    const error = Math.max(...exact.map((p, i) => Math.abs(p - believed[i])));
    arrows.forEach((mark, key) => mark.setAttribute("stroke-width", key === last?.key ? 4.5 : 2));
    story.textContent = at < queue.length ? `Round ${rounds + 1}: ${at} of ${queue.length} messages sent; ` +
      `${names[root]} is the root. ${last?.words ?? ""}` : error < 0.005 ? `${at} messages, and every mean is exact.`
      : `The messages settled after ${rounds} rounds; largest error ${error.toFixed(2)}: news went round and was heard again.`;
  };
  const begin = () => {
    told.clear();
    for (const mark of arrows.values()) mark.remove();
    arrows.clear();
    exact = chances(enumerate(machine, T, new Array(n).fill(0)), n).map((p) => 2 * p - 1);
    sure.forEach((text, i) => { text.textContent = `exact ${signed(exact[i], 2)}`; });
    [queue, at, rounds, change, due, last] = [schedule(weights, root), 0, 0, 0, 0, null];
    show();
  };
  const deliver = () => {
    if (at === queue.length) return run.toggle(false);
    const [i, j] = queue[at], key = `${i} ${j}`, u = messageOf(machine, T, told, i, j);
    const [h, said] = [heardBy(machine, T, told, i, j), u].map((field) => signed(T * field, 2));
    last = { key, words: `Without ${names[j]}, the field of ${names[i]} is ${h}: ${names[i]} tells ${names[j]} ${said}.` };
    change = Math.max(change, Math.abs(u - (told.get(key) ?? Infinity)));
    told.set(key, u);
    if (!arrows.has(key)) arrows.set(key, drawing.svg.insertBefore(arrow(i, j), drawing.units[0].g));
    at += 1;
    if (at < queue.length) return;
    rounds += 1;
    if (looped && change > 1e-4 && rounds < 100) [at, change] = [0, 0];
  };
  const step = (seconds) => {
    due += seconds * (rounds ? 60 : 1.5);
    while (due >= 1) { due -= 1; deliver(); }
    show();
  };
  let looped = false;
  const loop = bridge.length ? [choice("machine", ["tree", "with a loop"], 0, (k) => {
    const [i, j] = bridge;
    looped = k > 0;
    weights[i][j] = weights[j][i] = looped ? Math.max(...weights.flat()) : 0;
    if (looped) drawing.connect(...bridge, weights[i][j]);
    else drawing.lines.get(`${i} ${j}`)?.remove();
    run.toggle(false);
    begin();
  }).el] : [];
  const frameOf = frame(el, "messages", make("p", { class: "bml-headline" }, model.get("headline")), drawing.svg, story);
  const run = player(frameOf, step, { playing: false });
  run.control.addEventListener("click", () => { if (at === queue.length) { begin(); run.toggle(true); } });
  frameOf.append(make("div", { class: "bml-buttons" }, run.control,
    button("One message", () => { run.toggle(false); due = 0; deliver(); show(); }), ...loop),
    note([colour, "→", "message"], "number: the mean; disc: p(+1); hatched: not known. Press a unit to make it the root."));
  begin();
  for (const up = queue.findIndex(([i]) => i === root); at < up;) deliver();  // as the stored picture is
  show();
  return run.stop;
}

export default alive(mount);
