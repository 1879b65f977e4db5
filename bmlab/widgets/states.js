// All states of a machine as cells; a unit that is held takes half of those that are left away.
function mount(model, el) {
  const machine = { weights: model.get("weights"), biases: model.get("biases") }, n = machine.biases.length;
  const T = model.get("temperature"), offset = model.get("offset"), colours = model.get("colours");
  const names = machine.biases.map((_, i) => model.get("names")[i] ?? `${i}`), next = uniforms(model.get("seed"));
  const logs = logWeights(machine, T), top = logs.reduce((a, b) => Math.max(a, b)), fixed = new Array(n).fill(0);
  const down = Math.ceil(n / 2), [rows, columns] = [2 ** down, 2 ** (n - down)];
  let due = 0;

  // The board: the first half of the units chooses the row, the other half the column; as in states.py
  const SIDE = 320, LEFT = 72, TOP = 46, [high, wide] = [SIDE / rows, SIDE / columns];
  const text = (x, y, words, more = {}) => make("svg:text", { x, y, ...more }, words);
  const board = make("svg:svg", { viewBox: "0 0 400 372", role: "group", "aria-label": "Units, and all states" });
  const edge = make("svg:rect", { x: LEFT - 3, y: TOP - 3, width: SIDE + 6, height: SIDE + 6, class: "bml-axis" });
  const cells = Array.from(logs, (x, k) => make("svg:rect", { x: LEFT + wide * (k % columns),
    y: TOP + high * Math.floor(k / columns), width: 0.94 * wide, height: 0.94 * high, class: "bml-cell",
    "fill-opacity": 0.2 + 0.8 * Math.exp((x - top) / 3) }));
  const units = names.map((name, i) => {
    const along = i < down ? SIDE * (i + 0.5) / down : SIDE * (i - down + 0.5) / (n - down);
    const [x, y] = i < down ? [36, TOP - 6 + along] : [LEFT - 8 + along, 22];
    const ring = make("svg:circle", { cx: x, cy: y, r: 19, class: "bml-ring" });
    const disc = make("svg:circle", { cx: x, cy: y, r: 15, class: "bml-unit" });
    const sign = text(x, y + 5, "", { "text-anchor": "middle" });
    const label = i < down ? text(x, y + 29, name, { "text-anchor": "middle", class: "bml-soft" })
      : text(x + 20, y + 4, name, { class: "bml-soft" });
    const press = () => {
      run.toggle(false);
      hold(i, { 0: 1, 1: -1, "-1": 0 }[fixed[i]]);
    };
    return { disc, sign, g: pressable(press, ring, disc, sign, label) };
  });
  board.append(edge, ...cells, ...units.map(({ g }) => g));

  // How many states are left for each number of units that were held so far
  let most = 0;
  const ladder = make("svg:svg", { viewBox: `0 92 340 ${24 * n + 28}`, role: "img", "aria-label": "States left",
    style: "max-width: 340px" });
  const steps = Array.from({ length: n + 1 }, (_, k) => {
    const y = 106 + 24 * k, length = 210 * 2 ** -k;
    const bar = make("svg:rect", { x: 68, y: y - 8, width: Math.max(1, length), height: 16 });
    const words = [text(62, y + 4, `${k} held`, { "text-anchor": "end" }),
      text(74 + length, y + 4, (2 ** (n - k)).toLocaleString("en"))];
    ladder.append(bar, ...words);
    return { bar, words };
  });

  const count = make("p", { class: "bml-gap bml-note", role: "status" }), numbers = note();
  const hold = (i, sign) => {
    fixed[i] = sign;
    show();
  };
  const show = () => {
    const left = Array.from(logs, (_, k) => isLeft(k, fixed)), held = fixed.filter(Boolean).length;
    cells.forEach((cell, k) => cell.classList.toggle("bml-gone", !left[k]));
    showSigns(units, fixed, colours);
    units.forEach(({ g }, i) => {
      g.setAttribute("class", `bml-node${fixed[i] ? " bml-fixed" : ""}`);
      g.setAttribute("aria-label", `unit ${names[i]} is ${fixed[i] ? "held at " + signed(fixed[i], 0, "+") : "free"}; ` +
        "press to change");
    });
    most = Math.max(most, held);
    steps.forEach(({ bar, words }, k) => {
      for (const one of [bar, ...words]) one.setAttribute("visibility", k > most ? "hidden" : "visible");
      bar.setAttribute("fill", k === held ? colours.gibbs : colours.open);
      for (const one of words) one.setAttribute("style", k === held ? "font-weight: 700" : "");
    });
    const logZ = (kept) => (logSumExp(kept) - offset / T).toFixed(2);
    const many = 2 ** (n - held), all = (2 ** n).toLocaleString("en");
    count.setAttribute("aria-live", root.dataset.playing === "true" ? "off" : "polite");
    count.textContent = `${many.toLocaleString("en")} of ${all} states ${many > 1 ? "are" : "is"} left`;
    numbers.textContent = `log Z of these: ${logZ(logs.filter((_, k) => left[k]))}\nlog Z of all: ${logZ(logs)}`;
  };

  // One free unit after the other is held, then all are free again
  const free = () => { fixed.fill(0); show(); };
  const step = (seconds) => {
    due += seconds;
    if (due < 1.2) return;
    due = 0;
    if (fixed.includes(0)) hold(fixed.indexOf(0), next() < 0.5 ? 1 : -1);
    else free();
  };
  const stage = make("div", { class: "bml-stage" }, board);
  const root = frame(el, "states", make("p", { class: "bml-headline" }, model.get("headline")),
    make("div", { class: "bml-pair" }, stage, make("div", { class: "bml-column" }, count, numbers, ladder)));
  const run = player(root, step, { playing: false });
  stage.append(make("div", { class: "bml-buttons" }, run.control,
    button("Free all units", () => { run.toggle(false); free(); })));
  show();
  return run.stop;
}

export default alive(mount);
