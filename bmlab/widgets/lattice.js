// A lattice at work: 128 x 128 units, sixty times a second, between order and disorder.
function mount(model, el) {
  const L = model.get("size"), colours = model.get("colours"), s = new Int8Array(L * L), KEPT = 300;
  const next = uniforms(model.get("seed"));
  let T = model.get("temperature"), b = model.get("field"), rate = 1, sweeps = 0, energies = [], means = [];

  // The lattice itself
  const canvas = make("canvas", {
    width: L, height: L, tabindex: 0, role: "img",
    "aria-label": `Lattice of ${L} by ${L} units. Space runs and pauses, left and right change the temperature, ` +
      "up and down the field; draw on it to turn units up.",
  });
  const context = canvas.getContext("2d"), pixels = context.createImageData(L, L);
  const words = new Uint32Array(pixels.data.buffer);
  const word = (css) => {
    const [r, g, blue] = css.match(/\w\w/g).map((x) => parseInt(x, 16));
    return (255 << 24) | (blue << 16) | (g << 8) | r;
  };
  const up = word(colours.gibbs), down = word(colours.paper);
  const paint = () => {
    for (let i = 0; i < s.length; i++) words[i] = s[i] > 0 ? up : down;
    context.putImageData(pixels, 0, 0);
  };

  // Traces against time, and the magnetisation against temperature with the exact curve
  const time = axes(430, 150, {
    x: [0, KEPT], y: [-2.1, 1.1], yticks: [-2, -1, 0, 1], ylabel: "a unit",
    title: "Energy and magnetisation against time",
  });
  const dashed = { "stroke-dasharray": "4 4", stroke: "currentColor", "stroke-width": 1 };
  const exactEnergy = time.line(dashed), exactMean = time.line(dashed);
  const energyLine = time.line({ stroke: colours["mean field"] }), meanLine = time.line({ stroke: colours.gibbs });
  const key = note([colours.gibbs, "━", "magnetisation"], [colours["mean field"], "━", "energy"],
    ["currentColor", "┄", "exact, infinite lattice"]);
  const low = 1, high = 4;
  const plane = axes(430, 180, {
    x: [low, high], y: [-1.1, 1.1], xticks: [1, 2, 3, 4], yticks: [-1, 0, 1],
    xlabel: "temperature T", ylabel: "magnetisation", title: "Magnetisation against temperature",
  });
  const grid = Array.from({ length: 301 }, (_, k) => CRITICAL - (CRITICAL - low) * (1 - k / 300) ** 3);
  for (const sign of [1, -1]) {
    plane.line(dashed).setAttribute("d", plane.path(grid.map((t) => [t, sign * onsager(t).magnetisation])));
  }
  plane.line({ ...dashed, opacity: 0.5 }).setAttribute("d", plane.path([[CRITICAL, -1.1], [CRITICAL, 1.1]]));
  plane.text(plane.X(CRITICAL) + 5, plane.Y(0.85), `critical: ${CRITICAL.toFixed(3)}`, { class: "soft" });
  const trail = plane.add("path", { fill: "none", stroke: colours.gibbs, opacity: 0.6, "stroke-width": 1.2 });
  const dot = plane.add("circle", { r: 5, fill: colours.gibbs });
  let places = [];

  const numbers = make("p", { class: "note" });
  const show = () => {
    const energy = energies.at(-1), magnetisation = means.at(-1), exact = onsager(T), free = b === 0;
    energyLine.setAttribute("d", time.path(energies.map((y, k) => [k, Math.max(y, -2.1)])));
    meanLine.setAttribute("d", time.path(means.map((y, k) => [k, y])));
    const level = (y) => free ? time.path([[0, y], [KEPT, y]]) : "";
    exactEnergy.setAttribute("d", level(exact.energy));
    exactMean.setAttribute("d", level(Math.sign(magnetisation || 1) * exact.magnetisation));
    trail.setAttribute("d", plane.path(places));
    dot.setAttribute("cx", plane.X(T));
    dot.setAttribute("cy", plane.Y(magnetisation));
    const right = (words) => free ? ` (exact ${words})` : "";
    numbers.textContent = `Sweep ${sweeps}:   energy ${signed(energy, 3)}${right(signed(exact.energy, 3))},   ` +
      `magnetisation ${signed(magnetisation, 3)}` + right((T < CRITICAL ? "±" : "") + exact.magnetisation.toFixed(3));
    paint();
  };
  const record = () => {
    const { energy, magnetisation } = measure(s, L, b);
    energies.push(energy);
    means.push(magnetisation);
    places.push([T, magnetisation]);
    for (const kept of [energies, means, places]) if (kept.length > KEPT) kept.shift();
    show();
  };
  const step = () => {
    for (let k = 0; k < rate; k++) sweepLattice(s, L, T, b, next);
    sweeps += rate;
    record();
  };
  const start = (make) => {
    for (let i = 0; i < s.length; i++) s[i] = make();
    [energies, means, places, sweeps] = [[], [], [], 0];
    record();
  };

  const temperature = slider("temperature T", {
    min: low, max: high, step: 0.01, value: T, show: (v) => v.toFixed(2), mark: CRITICAL, markName: "critical",
  }, (v) => { T = v; show(); });
  const bias = slider("field b", { min: -0.5, max: 0.5, step: 0.01, value: b, show: (v) => signed(v, 2) },
    (v) => { b = v; show(); });
  const speed = slider("sweeps a frame", { min: 1, max: 10, step: 1, value: 1 }, (v) => { rate = v; });
  const root = frame(el, "lattice",
    make("div", { class: "pair" }, make("div", { class: "stage" }, canvas),
      make("div", { class: "column" }, time.svg, key, plane.svg)),
    numbers);
  const run = player(root, step);
  root.append(
    make("div", { class: "buttons" }, run.control, button("Step", () => { run.toggle(false); step(); }),
      button("Random", () => start(() => next() < 0.5 ? 1 : -1)), button("All up", () => start(() => 1))),
    make("div", { class: "controls" }, temperature.el, bias.el, speed.el));

  // By key and by pointer
  const keys = { ArrowLeft: () => temperature.move(-5), ArrowRight: () => temperature.move(5),
    ArrowUp: () => bias.move(1), ArrowDown: () => bias.move(-1), " ": () => run.toggle() };
  canvas.addEventListener("keydown", (event) => {
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  const drop = (event) => {
    if (!event.buttons) return;
    const box = canvas.getBoundingClientRect(), r = L / 20;
    const [x, y] = [(event.clientX - box.left) / box.width * L, (event.clientY - box.top) / box.height * L];
    for (let i = 0; i < s.length; i++) if (Math.hypot(i % L + 0.5 - x, Math.floor(i / L) + 0.5 - y) < r) s[i] = 1;
    paint();
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    drop(event);
  });
  canvas.addEventListener("pointermove", drop);
  start(() => next() < 0.5 ? 1 : -1);
  return run.stop;
}

export default alive(mount);
