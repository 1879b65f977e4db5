// A sum that grows: each state that comes for the first time adds its exp(-E/T), and one that was there adds nothing.
function mount(model, el) {
  const machine = { weights: model.get("weights"), biases: model.get("biases") }, n = machine.biases.length;
  const T = model.get("temperature"), colours = model.get("colours"), next = uniforms(model.get("seed"));
  const names = machine.biases.map((_, i) => model.get("names")[i] ?? `unit ${i}`);
  const weights = logWeights(machine, T).map((x) => Math.exp(x - model.get("offset") / T));
  const Z = weights.reduce((a, b) => a + b), s = new Array(n), seen = new Map();
  let turns = 0, unit = n - 1, due = 0, rate = 2, most = 40;

  const { svg, units } = graph(model.get("drawn"), colours, (i) => {
    s[i] = -s[i];
    story.textContent = `You turned ${names[i]} over: the walk goes on from there, and a turn adds what is new.`;
    show();
  });

  // Turns across, the sum upwards, as in visited.py: a block for each state, from the turn of its first visit on
  const FROM = 34, WIDE = 300, FLOOR = 270, TALL = 220, scale = TALL / Z;
  const chart = make("svg:svg", { viewBox: "0 24 400 268", role: "img", "aria-label": "The sum, turn by turn" });
  const blocks = make("svg:g"), now = word(FROM + WIDE, FLOOR + 16, "", { "text-anchor": "end" });
  chart.append(blocks, make("svg:path", { class: "bml-axis", d: `M${FROM} ${FLOOR - TALL - 20}V${FLOOR}H${FROM + WIDE}` }),
    make("svg:path", { d: `M${FROM} ${FLOOR - TALL}H${FROM + WIDE}`, class: "bml-outline", "stroke-dasharray": "4 4" }),
    word(FROM + 4, FLOOR - TALL - 6, `exact: Z = ${Z.toFixed(2)}`, { "text-anchor": "start" }), now);

  const story = note();
  story.classList.add("bml-said");
  story.setAttribute("role", "status");
  const add = (state) => {
    const total = sum(), high = scale * weights[state], y = FLOOR - scale * total - high;
    const block = make("svg:rect", { y, height: high, class: "bml-block",
      fill: colours.visited, stroke: colours.visited, "fill-opacity": 0.6 });
    const glyph = high > 22 ? discs(n, FROM + WIDE + 22, y + high / 2, 20) : [];
    showState(glyph, state, colours);
    blocks.append(block, ...glyph);
    seen.set(state, { from: turns - 1, block });
  };
  const sum = () => [...seen.keys()].reduce((total, k) => total + weights[k], 0);
  const turn = () => {
    unit = (unit + 1) % n;
    sweep(machine, s, T, next, [unit]);
    turns++;
    if (turns > most) most *= 2;
    const state = numberOf(s), fresh = !seen.has(state);
    if (fresh) add(state);
    story.textContent = `It was the turn of ${names[unit]}. ` + (fresh
      ? `A new state: it adds ${weights[state].toFixed(2)}.` : "This state was there before: it adds nothing.");
  };
  const show = () => {
    story.setAttribute("aria-live", root.dataset.playing === "true" ? "off" : "polite");
    showSigns(units, s, colours);
    units.forEach(({ g }, i) => {
      g.setAttribute("class", `bml-node${turns && i === unit ? " bml-now" : ""}`);
      g.setAttribute("aria-label", `${names[i]} is ${signed(s[i], 0, "+")}; press to turn it over`);
    });
    for (const { from, block } of seen.values()) {
      block.setAttribute("x", FROM + WIDE * from / most);
      block.setAttribute("width", WIDE * (turns - from) / most);
    }
    now.textContent = `${turns.toLocaleString("en")} turns`;
    count.textContent = `${seen.size} of ${2 ** n} states visited: they add up to ${sum().toFixed(2)}`;
  };
  const anew = () => {
    seen.clear();
    blocks.replaceChildren();
    [turns, most, story.textContent] = [0, 40, ""];
    s.fill(-1);
    show();
  };
  const play = (seconds) => {
    due += rate * seconds;
    if (due < 1) return;
    for (; due >= 1; due--) turn();
    show();
  };
  const count = make("p", { class: "bml-caption" });
  const root = frame(el, "visited", make("p", { class: "bml-headline" }, model.get("headline")),
    make("div", { class: "bml-pair" }, make("div", { class: "bml-stage" }, svg),
      make("div", { class: "bml-column" }, count, chart, story)));
  const run = player(root, play, { playing: false }), rates = [2, 10, 60];
  const pace = slider("turns a second", { min: 0, max: rates.length - 1, step: 1, value: 0, show: (k) => `${rates[k]}` },
    (k) => { [rate, due] = [rates[k], 0]; });
  root.append(make("div", { class: "bml-buttons" }, run.control,
    button("One turn", () => { run.toggle(false); turn(); show(); }), button("Start anew", anew), pace.el));
  anew();
  while (turns < most) turn();  // as the stored picture is
  show();
  return run.stop;
}

export default alive(mount);
