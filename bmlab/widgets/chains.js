// Twelve chains of one machine, from two opposite starts: what each reports so far, and whether they agree.

function mount(model, el) {
  const machine = { weights: model.get("weights"), biases: model.get("biases") }, n = machine.biases.length;
  const colours = model.get("colours"), next = uniforms(model.get("seed")), CHAINS = 12, SWEEPS = 300;
  let T = model.get("temperature"), due = 0, chains = [];

  // Sweeps across, the average upwards, as in chains.py
  const FROM = 40, WIDE = 400, TOP = 12, TALL = 240, middle = TOP + TALL / 2, unit = TALL / 2.2;
  const chart = make("svg:svg", { viewBox: "0 0 450 275", role: "img", "aria-label": "The average of each chain so far" });
  const text = (x, y, words) => chart.appendChild(make("svg:text", { x, y, "text-anchor": "end" }, words));
  chart.append(make("svg:path", { class: "bml-axis", d: `M${FROM} ${TOP}V${TOP + TALL}H${FROM + WIDE}` }));
  for (const [value, words] of [[1, "+1"], [0, "0"], [-1, "−1"]]) text(FROM - 6, middle - value * unit + 4, words);
  const passed = text(FROM + WIDE, TOP + TALL + 17, "");
  const lines = Array.from({ length: CHAINS }, (_, k) => chart.appendChild(make("svg:path", { fill: "none",
    "stroke-width": 1.3, ...(k < CHAINS / 2 ? { stroke: colours.gibbs }
      : { stroke: "var(--ink)", "stroke-dasharray": "5 3" }) })));

  const rhat = make("p", { class: "bml-gap bml-note" }), story = note();
  story.classList.add("bml-said");
  story.setAttribute("role", "status");
  const show = () => {
    const sweeps = chains[0].means.length, known = sweeps >= 4 ? splitRhat(chains.map(({ means }) => means)) : NaN;
    passed.textContent = `${sweeps} sweeps`;
    lines.forEach((line, k) => line.setAttribute("d", chains[k].path));
    story.setAttribute("aria-live", root.dataset.playing === "true" ? "off" : "polite");
    rhat.textContent = `R-hat ${known === Infinity ? "∞" : known ? known.toFixed(2) : "not known"}`;
    story.textContent = sweeps < SWEEPS ? "" : known > 1.01 ? "They disagree, or are too short to tell."
      : "They agree.";
  };
  const anew = () => {
    chains = Array.from({ length: CHAINS }, (_, k) =>
      ({ s: new Array(n).fill(k < CHAINS / 2 ? 1 : -1), means: [], total: 0, path: "" }));
    due = 0;
    show();
  };
  const advance = () => {
    for (const chain of chains) {
      sweep(machine, chain.s, T, next);
      const mean = chain.s.reduce((a, b) => a + b) / n, k = chain.means.push(mean);
      chain.total += mean;
      const at = `${(FROM + WIDE * k / SWEEPS).toFixed(1)} ${(middle - chain.total / k * unit).toFixed(1)}`;
      chain.path += (k > 1 ? "L" : "M") + at;
    }
  };
  const play = (seconds) => {
    due += 60 * seconds;
    for (; due >= 1 && chains[0].means.length < SWEEPS; due--) advance();
    if (chains[0].means.length === SWEEPS) run.toggle(false);
    show();
  };
  const root = frame(el, "chains", make("p", { class: "bml-headline" }, model.get("headline")),
    make("div", { class: "bml-pair" }, make("div", { class: "bml-column" }, chart),
      make("div", { class: "bml-stage" }, rhat, note("average of each chain's units so far"),
        note([colours.gibbs, "━", "from all +1"], ["var(--ink)", "┅", "from all −1"]), story)));
  const run = player(root, play, { playing: false });
  run.control.addEventListener("click", () => { if (chains[0].means.length === SWEEPS) anew(); });
  root.append(make("div", { class: "bml-buttons" }, run.control, button("Start anew", anew),
    slider("temperature T", { min: 1, max: 5, step: 0.1, value: T, show: (v) => v.toFixed(1) }, (v) => {
      T = v;
      anew();
      run.toggle(true);
    }).el));
  anew();
  while (chains[0].means.length < SWEEPS) advance();  // as the stored picture is; Run begins anew
  show();
  return run.stop;
}

export default alive(mount);
