// What the units that are held say of the others: exact conditional probabilities, and block Gibbs between two layers.
function mount(model, el) {
  const machine = sentMachine(model), { names, low } = machine, n = names.length, T = model.get("temperature");
  const next = uniforms(model.get("seed")), fixed = [...model.get("held")];
  const before = chances(enumerate(machine, T, new Array(n).fill(0)), n), story = note(), share = (p) => p.toFixed(2);
  const drawing = beliefs(machine, model, "The machine", (i) => {
    fixed[i] = { 0: 1, 1: -1, "-1": 0 }[fixed[i]];
    show();
  });
  // A mark on the rim, on the side where no name stands
  drawing.units.forEach(({ before: mark }, i) => {
    const side = (model.get("labels")[i] ?? [0])[0] < 0 ? 1 : -1, y = RADIUS * (1 - 2 * before[i]);
    mark.setAttribute("d", `M${side * Math.sqrt(RADIUS ** 2 - y ** 2)} ${y}l${10 * side} -6v12z`);
  });
  story.setAttribute("role", "status");

  let states;
  const show = () => {
    states = enumerate(machine, T, fixed);
    const p = chances(states, n);
    p.forEach((chance, i) => drawing.show(i, chance, fixed[i] ? signed(fixed[i], 0, "+") : share(chance), {
      kind: fixed[i] ? "bml-fixed" : "",
      says: fixed[i] ? `held at ${signed(fixed[i], 0, "+")}; press to change` :
        `+1 with probability ${share(chance)}, ${share(before[i])} when all are free; press to hold it`,
    }));
    drawing.lines.forEach((line, pair) => {  // those of held units alone
      const seen = !fixed.some(Boolean) || pair.split(" ").some((i) => fixed[i]);
      line.setAttribute("stroke-opacity", seen ? 1 : 0);
    });
    story.textContent = low ? layered(p) : followed(p);
  };
  // Who is moved most by what is held
  const followed = (p) => {
    if (!fixed.some(Boolean)) return "Nothing is held. Press a unit: it is held at +1.";
    const open = names.map((_, i) => i).filter((i) => !fixed[i]).sort((i, j) => p[i] - before[i] - p[j] + before[j]);
    const moved = (i, way) => `${names[i]} ${way} from ${share(before[i])} to ${share(p[i])}`;
    const [least, most] = [open[0], open.at(-1)], words = [];
    if (open.length && p[most] > before[most]) words.push(moved(most, "rises"));
    if (open.length && p[least] < before[least]) words.push(moved(least, "falls"));
    return words.length ? `Most moved by what is held: ${words.join(", ")}.` : "All are held.";
  };
  // How much two open units of one layer still say of each other: 0 where the other layer is held
  const layered = (p) => {
    const together = (i, j) => states.reduce((sum, x, k) =>
      sum + ((k >> (n - 1 - i)) & (k >> (n - 1 - j)) & 1 ? x : 0), 0);
    let most = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) {
      if ((i < low) === (j < low)) most = Math.max(most, Math.abs(together(i, j) - p[i] * p[j]) * 4);
    }
    return `Largest covariance of two units within a row: ${share(most)}` +
      (most < 1e-9 ? ": what is held decides each on its own." : ".");
  };
  // All open units at once; then they are held, and the other layer is open
  const draw = () => {
    let k = 0;
    for (let u = next() - states[0]; u > 0 && k < states.length - 1;) u -= states[++k];
    const above = fixed.slice(0, low).every(Boolean);
    for (let i = 0; i < n; i++) fixed[i] = (i >= low) === above ? ((k >> (n - 1 - i)) & 1 ? 1 : -1) : 0;
    show();
  };

  const root = frame(el, "conditional", make("p", { class: "bml-headline" }, model.get("headline")), drawing.svg, story);
  let due = 0;
  const run = player(root, (seconds) => { if ((due += seconds) > 0.8) { due = 0; draw(); } }, { playing: false });
  const free = button("Free all", () => { run.toggle(false); fixed.fill(0); show(); });
  root.append(make("div", { class: "bml-buttons" },
    ...(low ? [run.control, button("Step", () => { run.toggle(false); draw(); })] : []), free));
  root.append(note([colourOf(model, "gibbs"), "●", "as blue as it is likely to be +1"],
    ["var(--ink)", "◀", "its level when all are free"], "Press a unit: held at +1, at −1, free."));
  show();
  return run.stop;
}

export default alive(mount);
