// A lattice at work: 128 x 128 units, sixty times a second, between order and disorder.
function mount(model, el) {
  const L = model.get("size"), colours = model.get("colours"), s = new Int8Array(L * L), KEPT = 300;
  const next = uniforms(model.get("seed"));
  let T = model.get("temperature"), b = model.get("field"), rate = 1, sweeps = 0, energies = [], means = [];
  let brush = 1, islands = false, plan = null;

  // The lattice itself: blue is up, white is down; or islands, the darker the larger
  const canvas = make("canvas", {
    width: L, height: L, tabindex: 0, role: "img", class: "bml-drawn-on",
    "aria-label": `Lattice of ${L} by ${L} units. Space runs and pauses, left and right change the temperature, ` +
      "up and down the field; draw on it to turn units over.",
  });
  const context = canvas.getContext("2d"), pixels = context.createImageData(L, L);
  const words = new Uint32Array(pixels.data.buffer), rgb = (css) => css.match(/\w\w/g).map((x) => parseInt(x, 16));
  const mixed = (a, c, t) => rgb(a).map((x, k) => Math.round(x + t * (rgb(c)[k] - x)));
  const word = ([r, g, blue]) => ((255 << 24) | (blue << 16) | (g << 8) | r) >>> 0;
  const up = word(rgb(colours.gibbs)), down = word(rgb(colours.minus));
  const shades = [colours.mean_field, colours.gibbs].map((colour) =>
    Array.from({ length: 33 }, (_, k) => word(mixed(colours.minus, colour, 0.15 + 0.85 * k / 32))));
  const paint = () => {
    const sizes = islands ? clusterSizes(s, L) : null, full = Math.log(s.length);
    for (let i = 0; i < s.length; i++) {
      words[i] = sizes ? shades[s[i] > 0 ? 1 : 0][Math.round(32 * Math.log(sizes[i]) / full)] : s[i] > 0 ? up : down;
    }
    context.putImageData(pixels, 0, 0);
  };

  // Traces against time, and the magnetisation against temperature with the exact curve, or against the field
  const time = axes(430, 130, {
    x: [0, KEPT], y: [-2.1, 1.1], yticks: [-2, -1, 0, 1], ylabel: "a unit",
    title: "Energy and magnetisation against time",
  });
  const dashed = { "stroke-dasharray": "4 4", stroke: "currentColor", "stroke-width": 1 };
  const exactEnergy = time.line(dashed), exactMean = time.line(dashed);
  const energyLine = time.line({ stroke: colours.mean_field }), meanLine = time.line({ stroke: colours.gibbs });
  const key = note([colours.gibbs, "━", "magnetisation"], [colours.mean_field, "━", "energy"],
    ["currentColor", "┄", "exact, infinite lattice"]);
  const low = 1, high = 4, most = 0.5;
  const plane = axes(430, 160, {
    x: [low, high], y: [-1.1, 1.1], xticks: [1, 2, 3, 4], yticks: [-1, 0, 1],
    xlabel: "temperature T", ylabel: "magnetisation", title: "Magnetisation against temperature",
  });
  const grid = Array.from({ length: 301 }, (_, k) => CRITICAL - (CRITICAL - low) * (1 - k / 300) ** 3);
  for (const sign of [1, -1]) {
    plane.line(dashed).setAttribute("d", plane.path(grid.map((t) => [t, sign * onsager(t).magnetisation])));
  }
  plane.line({ ...dashed, opacity: 0.5 }).setAttribute("d", plane.path([[CRITICAL, -1.1], [CRITICAL, 1.1]]));
  plane.text(plane.X(CRITICAL) + 5, plane.Y(0.85), `critical: ${CRITICAL.toFixed(3)}`, { class: "bml-soft" });
  const loop = axes(430, 160, {
    x: [-most, most], y: [-1.1, 1.1], xticks: [-most, 0, most], yticks: [-1, 0, 1],
    xlabel: "field b", ylabel: "magnetisation", title: "Magnetisation against the field",
  });
  const charts = [[plane, () => T], [loop, () => b]].map(([chart, x]) => ({
    chart, x, places: [],
    trail: chart.add("path", { fill: "none", stroke: colours.gibbs, opacity: 0.6, "stroke-width": 1.2 }),
    dot: chart.add("circle", { r: 5, fill: colours.gibbs }),
  }));
  const turn = (looping) => {
    plane.svg.style.display = looping ? "none" : "";
    loop.svg.style.display = looping ? "" : "none";
  };
  turn(false);

  const numbers = note(), story = make("p", { class: "bml-note", role: "status" }), spoken = heard();
  const show = () => {
    const energy = energies.at(-1), magnetisation = means.at(-1), exact = onsager(T), free = b === 0;
    energyLine.setAttribute("d", time.path(energies.map((y, k) => [k, Math.max(y, -2.1)])));
    meanLine.setAttribute("d", time.path(means.map((y, k) => [k, y])));
    const level = (y) => free ? time.path([[0, y], [KEPT, y]]) : "";
    exactEnergy.setAttribute("d", level(exact.energy));
    exactMean.setAttribute("d", level(Math.sign(magnetisation || 1) * exact.magnetisation));
    for (const { chart, x, places, trail, dot } of charts) {
      trail.setAttribute("d", chart.path(places));
      dot.setAttribute("cx", chart.X(x()));
      dot.setAttribute("cy", chart.Y(magnetisation));
    }
    const right = (words) => free ? ` (exact ${words})` : "";
    numbers.textContent = `Sweep ${sweeps}:   energy ${signed(energy, 3)}${right(signed(exact.energy, 3))},   ` +
      `magnetisation ${signed(magnetisation, 3)}` + right((T < CRITICAL ? "±" : "") + exact.magnetisation.toFixed(3));
    paint();
  };
  const record = () => {
    const { energy, magnetisation } = measure(s, L, b);
    energies.push(energy);
    means.push(magnetisation);
    for (const { x, places } of charts) places.push([x(), magnetisation]);
    for (const kept of [energies, means]) if (kept.length > KEPT) kept.shift();
    for (const { places } of charts) if (places.length > 3 * KEPT) places.shift();
    show();
  };
  const step = (seconds) => {
    if (plan?.next(seconds).done) plan = null;
    for (let k = 0; k < rate; k++) sweepLattice(s, L, T, b, next);
    sweeps += rate;
    record();
  };
  const start = (make) => {
    for (let i = 0; i < s.length; i++) s[i] = make();
    [energies, means, sweeps] = [[], [], 0];
    for (const chart of charts) chart.places = [];
    record();
  };
  const coin = () => next() < 0.5 ? 1 : -1;

  // What one does by hand, and three journeys
  const temperature = slider("temperature T", {
    min: low, max: high, step: 0.01, value: T, show: (v) => v.toFixed(Math.abs(v - CRITICAL) < 1e-6 ? 3 : 2),
    mark: CRITICAL, markName: "critical", snap: 0.02,
  }, (v) => { [T, plan] = [v, null]; show(); });
  const bias = slider("field b", { min: -most, max: most, step: 0.01, value: b, show: (v) => signed(v, 2) },
    (v) => { [b, plan] = [v, null]; show(); });
  const to = (t, field) => { [T, b] = [t, field]; temperature.set(t); bias.set(field); };
  function* heat() {
    for (let t = low; t < high; t += 0.25 * (yield)) to(t, 0);
  }
  function* hysteresis() {
    const legs = [[0, most], [most, -most], [-most, most], [most, 0]];
    for (const [from, end] of legs) {
      const pace = 0.12 * Math.sign(end - from);
      for (let f = from; Math.abs(f - from) < Math.abs(end - from); f += pace * (yield)) to(1.9, f);
    }
    to(1.9, 0);
  }
  const journey = (words, looping, begin, way = null) => button(words[0], () => {
    story.textContent = words[1];
    turn(looping);
    begin();
    plan = way ? way() : null;
    plan?.next();
    run.toggle(true);
  });
  const speed = slider("sweeps a frame", { min: 1, max: 10, step: 1, value: 1 }, (v) => { rate = v; });
  const root = frame(el, "lattice");
  const run = player(root, step);
  const buttons = make("div", { class: "bml-buttons" }, run.control,
    button("Step", () => { run.toggle(false); step(0); }), button("Random", () => start(coin)),
    button("All up", () => start(() => 1)));
  const journeys = make("div", { class: "bml-buttons" },
    journey(["Quench", "From T = 4 to T = 1.2 at once: islands grow, and walls between them take long to go."], false,
      () => { to(1.2, 0); start(coin); }),
    journey(["Heat", "From all up at T = 1, slowly to T = 4: where does the order go?"], false,
      () => { to(low, 0); start(() => 1); }, heat),
    journey(["Hysteresis", "The field goes up and down at T = 1.9: the lattice follows late, and draws a loop."], true,
      () => { to(1.9, 0); start(() => -1); }, hysteresis));
  root.append(
    make("div", { class: "bml-pair" },
      make("div", { class: "bml-stage" }, canvas, spoken,
        choice("Brush", ["up", "down"], 0, (k) => { brush = k ? -1 : 1; }).el,
        choice("Colour", ["units", "islands by size"], 0, (k) => { islands = k === 1; paint(); }).el),
      make("div", { class: "bml-column" },
        make("div", { class: "bml-controls bml-tall" }, temperature.el, bias.el, speed.el),
        buttons, journeys, story, time.svg, key, plane.svg, loop.svg)),
    numbers);

  // By key and by pointer
  const keys = { ArrowLeft: () => temperature.move(-5), ArrowRight: () => temperature.move(5),
    ArrowUp: () => bias.move(1), ArrowDown: () => bias.move(-1), " ": () => run.toggle() };
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
    spoken.textContent = `T = ${temperature.input.getAttribute("aria-valuetext")}, field ${signed(b, 2)}, ` +
      `magnetisation ${signed(means.at(-1), 2)}; it ${root.dataset.playing === "true" ? "runs" : "stands"}.`;
  });
  let before = null;
  const drop = (event) => {
    if (!event.buttons) return;
    const box = canvas.getBoundingClientRect();
    const place = [(event.clientX - box.left) / box.width * L, (event.clientY - box.top) / box.height * L];
    for (const i of stroke(L, before ?? place, place, L / 20)) s[i] = brush;
    before = place;
    paint();
  };
  canvas.addEventListener("pointerdown", (event) => {
    before = null;
    canvas.setPointerCapture(event.pointerId);
    drop(event);
  });
  canvas.addEventListener("pointermove", drop);
  start(coin);
  return run.stop;
}

export default alive(mount);
