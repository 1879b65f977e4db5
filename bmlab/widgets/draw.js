// A machine learns in the page what it is shown: left the patterns, in the middle its units and weights, right all of
// its dreams, each a Gibbs chain.  The rule of learning can be taken apart.
function mount(model, el) {
  const [H, W] = model.get("shape"), n = H * W, colours = model.get("colours");
  const MOST = 20, PACE = 12;  // patterns; steps a second
  const next = uniforms(model.get("seed")), patterns = model.get("patterns").map((p) => [...p]);
  const drawn = new Array(n).fill(-1), held = new Array(n).fill(0);
  const rule = { shown: 1, dreamt: 1, signs: false, T: 1 };
  const begun = () => learner(n, next, { rate: 0.02 });
  const { probe, now } = seen(colours);
  let mind = begun(), due = 0, oldest = 0, tones = {}, framed = [];

  // A stroke gives each pixel that it crosses what after() makes of its first one.
  const brushed = (values, after, changed, options) => {
    let value = null;
    const put = (r, c) => {
      const i = Math.floor(r) * W + Math.floor(c);
      value ??= after(values[i]);
      values[i] = value;
      changed();
    };
    const sheet = pad([H, W], { ring: colours.gibbs, put, ...options });
    for (const kind of ["pointerdown", "keydown"]) sheet.canvas.addEventListener(kind, () => { value = null; }, true);
    return sheet;
  };

  // What it is shown
  const shelf = make("div", { class: "bml-shelf" });
  let pen = 1;  // or -1: the eraser
  const paper = brushed(drawn, () => pen, () => paper.paint(), { size: 180,
    colour: (i) => drawn[i] > 0 ? tones.on : tones.off, named: (i) => drawn[i] > 0 ? "ink" : "paper" });
  const address = model.get("address");  // of a page that is only this: it can hold the patterns
  const tile = (pattern, canvas = make("canvas", { width: W, height: H })) =>
    stamp(canvas, pattern.map((x) => x > 0 ? tones.on : tones.off));
  const arrange = () => {
    shelf.replaceChildren(...patterns.map((pattern, k) => {
      const take = button("", () => {
        patterns.splice(k, 1);
        address?.write(patterns);
        arrange();
        words.textContent = `Taken away: ${patterns.length || "none"} left.`;
      }, { "aria-label": `Take pattern ${k + 1} away`,
        title: "Take it away" });
      take.append(tile(pattern));
      return take;
    }));
    tell();
  };
  const keep = button("Show it this", () => {
    const kept = patterns.length < MOST && drawn.includes(1);
    if (kept) {
      patterns.push([...drawn]);
      address?.write(patterns);
    }
    drawn.fill(-1);
    paper.paint();
    arrange();
    if (kept) words.textContent = `Shown: ${patterns.length} now.`;
  });
  const eraser = button("Erase", () => {
    pen = -pen;
    eraser.setAttribute("aria-pressed", pen < 0);
  }, { "aria-pressed": false });
  const send = button("Copy link", async () => {
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    words.textContent = copied ? "Copied. Who opens it sees a machine learn your patterns." :
      "The address of this page has your patterns: copy it from the browser's bar.";
  });

  // Its units, and the weights of the one that is pointed at, or else of that with the largest; a unit that is pressed is
  // held in every dream
  let looked = 0, chosen = false;
  const together = (i) => mind.machine.weights[i].reduce((sum, w) => sum + Math.abs(w), 0);
  const strongest = () => {
    const all = held.map((_, i) => together(i)), most = Math.max(...all);
    if (!chosen && most > 1.1 * all[looked]) looked = all.indexOf(most);
  };
  const weights = (canvas, cell) => {
    const lines = Array.from(mind.machine.weights[looked], (w, j) => [looked, j, 2.5 * w]);
    network(canvas, [H, W], cell, lines, mind.dreams[0], tones, held, looked);
  };
  const holding = () => held.some((x) => x);
  const hold = () => {
    mind.dreams.forEach((_, k) => { mind.dreams[k] = mind.noise(); });
    tell();
    web.paint();
  };
  const HOW = ["held off in every dream", "free", "held on in every dream"];
  const web = brushed(held, (x) => x ? (x > 0 ? -1 : 0) : 1, hold, { size: 560, draw: weights, taps: true,
    look: (i) => { [looked, chosen] = [i, true]; web.paint(); }, words: "space holds a cell", named: (i) => HOW[held[i] + 1] });
  web.canvas.classList.add("bml-web");

  // All of its dreams
  const wall = wallOf(mind.dreams.length, [H, W], 6, `${mind.dreams.length} dreams of the machine, that begin in noise`);
  const same = (s, p) => s.every((x, i) => x === p[i]);
  const hang = (part) => wall.hang(mind.dreams, tones, part, { framed });
  const describe = () => {  // for who does not see them
    const equal = patterns.map((p) => mind.dreams.filter((s) => same(s, p)).length);
    const found = equal.map((count, k) => `${count} are pattern ${k + 1}`).join(", ");
    wall.canvas.setAttribute("aria-label", `${mind.dreams.length} dreams of the machine: ${found || "nothing is shown"}`);
  };
  const restyle = () => {
    const before = tones.off;
    tones = now();
    if (tones.off === before) return;
    paper.paint();
    shelf.querySelectorAll("canvas").forEach((canvas, k) => tile(patterns[k], canvas));
  };

  // The rule, and what is left of it
  const words = make("p", { class: "bml-note bml-said", role: "status" }), gap = make("b", { class: "bml-gap" });
  const share = make("span", { class: "bml-bar", style: "background: var(--soft)" });
  const set = (shown, dreamt) => { Object.assign(rule, { shown, dreamt }); tell(); };
  const halves = [button("together when shown", () => set(1 - rule.shown, rule.dreamt)),
    button("together when dreaming", () => set(rule.shown, 1 - rule.dreamt))];
  const teach = button("Teach", () => set(1, 1)), unlearn = button("Unlearn", () => set(0, 1));
  const signs = button("Count all differences alike", () => { rule.signs = !rule.signs; tell(); });
  const free = button("Let go", () => { held.fill(0); hold(); });
  const HELD = "Held in every dream at once. Such dreams are not free, and nothing is learnt from them.";
  const SAID = {
    11: "Each weight changes until dreams and patterns agree on its two cells. Press a cell to hold it.",
    10: "Without the second half nothing ever says enough: if two cells are shown alike more often than not, or less, " +
      "their weight grows on, and the dreams freeze.",
    "01": "Unlearning is the second half alone: what is dreamt together is pulled apart. The patterns are not used.",
    "00": "Without both halves nothing changes. It only dreams.",
  };
  const tell = () => {
    const { shown, dreamt } = rule;
    const pressed = [[halves[0], shown], [halves[1], dreamt], [teach, shown && dreamt], [unlearn, !shown && dreamt],
      [signs, rule.signs]];
    for (const [one, is] of pressed) one.setAttribute("aria-pressed", Boolean(is));
    free.disabled = !holding();
    const bare = rule.signs ? " Each difference counts as more or less, and never as much or little: nothing comes to rest." : "";
    words.textContent = holding() ? HELD : SAID[`${shown}${dreamt}`] + bare;
  };
  const move = () => {
    if (!tones.off || mind.steps % PACE === 0) {
      restyle();
      describe();
      strongest();
    }
    if (holding()) {                   // a chain that has found a pattern stays in it: one a step begins anew
      mind.dreams[oldest] = mind.noise();
      oldest = (oldest + 1) % mind.dreams.length;
      mind.dream(rule.T, held);
    } else if (rule.shown || rule.dreamt) mind.step(patterns, rule);
    else mind.dream(rule.T);
    framed = mind.dreams.map((s) => patterns.some((p) => same(s, p)));
    gap.textContent = holding() ? "–" : mind.mismatch.toFixed(2);
    share.style.width = `${holding() ? 0 : 50 * mind.mismatch}%`;
    web.paint();
  };
  const step = (seconds) => {
    due += seconds * PACE;
    if (due >= 1) { due %= 1; move(); }
    hang(1 - Math.exp(-18 * seconds));
  };
  const again = button("Start again", () => {
    mind = begun();
    held.fill(0);
    set(1, 1);
    due = 1;
    step(0);
  });

  const column = (name, title, ...children) => make("div", { class: `bml-${name}` },
    make("p", { class: "bml-caption" }, title), ...children);
  const root = frame(el, "draw", probe, make("p", { class: "bml-headline" }, model.get("headline")), make("div", { class: "bml-dreamer" },
    column("shown", "It is shown", shelf, paper.canvas, paper.spoken,
      make("div", { class: "bml-buttons" }, keep, eraser)),
    column("weights", "Weights of the cell you touch", web.canvas, web.spoken,
      make("div", { class: "bml-buttons" }, note([colours.together, "━", "together"], [colours.apart, "━", "apart"],
        ["var(--soft)", "━", "near 0"]), free)),
    column("dreams", "It dreams (framed: a pattern)", wall.canvas, make("p", { class: "bml-note" }, gap, " largest gap, shown − dreamt"),
      make("p", { class: "bml-note bml-scale" }, "0: none", make("span", { class: "bml-lane" }, share), "2: opposite"))));
  const run = player(root, step), twoDigits = (v) => v.toFixed(2);
  const heat = slider("heat", { min: 0.2, max: 3, step: 0.05, value: 1, show: twoDigits }, (v) => { rule.T = v; });
  root.querySelector(".bml-headline").after(
    make("div", { class: "bml-buttons" }, run.control, teach, unlearn, again, signs, heat.el));
  root.append(
    make("p", { class: "bml-rule" }, "change of a weight = rate × ( ", halves[0], " − ", halves[1], " )"), words,
    ...(address ? [make("div", { class: "bml-buttons" }, send)] : []));
  tones = now();
  arrange();
  // Who asks for less motion sees what comes of it.
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  for (let k = 0; k < (still ? 150 : 1); k++) mind.step(patterns, rule);
  move();
  hang(1);
  paper.paint();
  return run.stop;
}

export default alive(mount);
