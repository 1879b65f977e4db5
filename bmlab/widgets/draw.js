// A machine learns in the page what it is shown: left the patterns, in the middle its units and weights, right all of
// its dreams, each a Gibbs chain.  The rule of learning can be taken apart.
function mount(model, el) {
  const [H, W] = model.get("shape"), n = H * W, colours = model.get("colours"), INK = colours.gibbs;
  const MOST = 20, PACE = 12;  // patterns; steps a second
  const next = uniforms(model.get("seed")), patterns = model.get("patterns").map((p) => [...p]);
  const drawn = new Array(n).fill(-1), held = new Array(n).fill(0);
  const rule = { shown: 1, dreamt: 1, signs: false, T: 1 };
  const begun = () => learner(n, next, { rate: 0.02 });
  let mind = begun(), due = 0, oldest = 0, tones = {};

  // Colours that are seen on light and on dark pages
  const probe = make("span", { class: "bml-heard" });
  const tone = (css, part) => {
    probe.style.color = `color-mix(in srgb, ${css} ${part}%, var(--ink))`;
    return getComputedStyle(probe).color;
  };
  const restyle = () => {
    tones = { on: tone(colours.gibbs, 75), off: tone("var(--back)", 88), together: tone(colours.together, 80),
      apart: tone(colours.apart, 80), ink: tone("var(--ink)", 100) };
  };

  // A stroke gives each pixel that it crosses what its first one becomes.
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
  const paper = brushed(drawn, (x) => -x, () => paper.paint(), { size: 180,
    colour: (i) => drawn[i] > 0 ? INK : WHITE, named: (i) => drawn[i] > 0 ? "ink" : "paper" });
  const address = model.get("address");  // of a page that is only this: it can hold the patterns
  const arrange = () => {
    shelf.replaceChildren(...patterns.map((pattern, k) => {
      const take = button("", () => {
        patterns.splice(k, 1);
        address?.write(patterns);
        arrange();
        words.textContent = `Taken away: ${patterns.length || "none"} left. It forgets what it is no longer shown.`;
      }, { "aria-label": `Take pattern ${k + 1} away`,
        title: "Take it away" });
      take.append(stamp(make("canvas", { width: W, height: H }), pattern.map((x) => x > 0 ? INK : WHITE)));
      return take;
    }));
    tell();
  };
  const keep = button("Show it this", () => {
    if (patterns.length < MOST && drawn.includes(1)) {
      patterns.push([...drawn]);
      address?.write(patterns);
    }
    drawn.fill(-1);
    paper.paint();
    arrange();
  });
  const send = button("Copy link", async () => {
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    words.textContent = copied ? "Copied. Who opens it sees a machine learn your patterns." :
      "The address of this page has your patterns: copy it from the browser's bar.";
  });

  // Its units and weights; a unit that is pressed is held in every dream
  const weights = (canvas, cell) => {
    const middle = (i) => [(i % W + 0.5) * cell, (Math.floor(i / W) + 0.5) * cell];
    canvas.clearRect(0, 0, W * cell, H * cell);
    mind.machine.weights.forEach((row, i) => {
      for (let j = 0; j < i; j++) {
        const strong = Math.abs(row[j]);
        if (strong < 0.06) continue;
        canvas.globalAlpha = Math.min(0.9, 2 * strong);
        [canvas.strokeStyle, canvas.lineWidth] = [row[j] > 0 ? tones.together : tones.apart, Math.min(8, 5 * strong)];
        canvas.beginPath();
        canvas.moveTo(...middle(i));
        canvas.lineTo(...middle(j));
        canvas.stroke();
      }
    });
    canvas.globalAlpha = 1;
    mind.dreams[0].forEach((x, i) => {
      canvas.beginPath();
      canvas.arc(...middle(i), 0.17 * cell, 0, 7);
      canvas.fillStyle = (held[i] || x) > 0 ? tones.on : tones.off;
      canvas.fill();
      [canvas.strokeStyle, canvas.lineWidth] = held[i] ? [tones.ink, 5] : [tones.on, 1];
      canvas.stroke();
    });
  };
  const holding = () => held.some((x) => x);
  const hold = () => {
    mind.dreams.forEach((_, k) => { mind.dreams[k] = mind.noise(); });
    tell();
    web.paint();
  };
  const HOW = ["held off in every dream", "free", "held on in every dream"];
  const web = brushed(held, (x) => x ? (x > 0 ? -1 : 0) : 1, hold, { size: 560, draw: weights, taps: true,
    words: "space holds a cell", named: (i) => HOW[held[i] + 1] });
  web.canvas.classList.add("bml-web");

  // All of its dreams; a cell goes from colour to colour in some frames
  const ACROSS = 5, CELL = 10, shades = mind.dreams.map(() => new Float64Array(n).fill(0.5));
  const wall = make("canvas", { class: "bml-wall", role: "img", width: CELL * (ACROSS * (W + 1) - 1),
    height: CELL * (Math.ceil(shades.length / ACROSS) * (H + 1) - 1),
    "aria-label": `${shades.length} dreams of the machine, that begin in noise` }), sheet = wall.getContext("2d");
  const hang = (part) => {
    sheet.clearRect(0, 0, wall.width, wall.height);
    mind.dreams.forEach((s, k) => {
      const x = CELL * (k % ACROSS) * (W + 1), y = CELL * Math.floor(k / ACROSS) * (H + 1);
      [sheet.globalAlpha, sheet.fillStyle] = [1, tones.off];
      sheet.fillRect(x, y, W * CELL, H * CELL);
      sheet.fillStyle = tones.on;
      for (let i = 0; i < n; i++) {
        sheet.globalAlpha = shades[k][i] += part * ((s[i] > 0 ? 1 : 0) - shades[k][i]);
        sheet.fillRect(x + i % W * CELL, y + Math.floor(i / W) * CELL, CELL - 0.5, CELL - 0.5);
      }
    });
  };

  // The rule, and what is left of it
  const words = make("p", { class: "bml-note bml-said", role: "status" }), gap = make("b", { class: "bml-gap" });
  const set = (shown, dreamt) => { Object.assign(rule, { shown, dreamt }); tell(); };
  const halves = [button("together when shown", () => set(1 - rule.shown, rule.dreamt)),
    button("together when dreaming", () => set(rule.shown, 1 - rule.dreamt))];
  const teach = button("Teach", () => set(1, 1)), unlearn = button("Unlearn", () => set(0, 1));
  const signs = button("signs only", () => { rule.signs = !rule.signs; tell(); });
  const free = button("Let go", () => { held.fill(0); hold(); });
  const HELD = "Held in every dream at once. Such dreams are not free, and nothing is learnt from them.";
  const SAID = {
    11: "Each weight changes until the dreams agree with what it is shown.",
    10: "Without the second half nothing ever says enough: the weights grow, and the dreams freeze where they are.",
    "01": "Unlearning is the second half alone: what is dreamt together is pulled apart. No letter is shown.",
    "00": "Without both halves nothing changes. It only dreams.",
  };
  const tell = () => {
    const { shown, dreamt } = rule;
    const pressed = [[halves[0], shown], [halves[1], dreamt], [teach, shown && dreamt], [unlearn, !shown && dreamt],
      [signs, rule.signs]];
    for (const [one, is] of pressed) one.setAttribute("aria-pressed", Boolean(is));
    free.disabled = !holding();
    const bare = rule.signs ? " Only the sign of each difference counts: the smallest pulls as hard as the largest, and nothing comes to rest." : "";
    words.textContent = holding() ? HELD : SAID[`${shown}${dreamt}`] + bare;
  };
  const move = () => {
    if (mind.steps % PACE === 0) restyle();
    if (holding()) {                   // a chain that has found a pattern stays in it: one a step begins anew
      mind.dreams[oldest] = mind.noise();
      oldest = (oldest + 1) % mind.dreams.length;
      mind.dream(rule.T, held);
    } else if (rule.shown || rule.dreamt) mind.step(patterns, rule);
    else mind.dream(rule.T);
    gap.textContent = holding() ? "–" : mind.mismatch.toFixed(2);
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
  const root = frame(el, "draw", probe, make("div", { class: "bml-dreamer" },
    column("shown", "It is shown", shelf, paper.canvas, paper.spoken, keep),
    column("weights", "Its weights", web.canvas, web.spoken,
      make("p", { class: "bml-note" }, gap, " largest gap between shown and dreamt (0: none, 2: opposite)"),
      note([colours.together, "━", "together"], [colours.apart, "━", "apart"], "   Press a cell to hold it.")),
    column("dreams", "It dreams", wall)));
  const run = player(root, step), twoDigits = (v) => v.toFixed(2);
  const heat = slider("heat", { min: 0.2, max: 3, step: 0.05, value: 1, show: twoDigits }, (v) => { rule.T = v; });
  root.prepend(make("div", { class: "bml-buttons" }, run.control, teach, unlearn, again, heat.el));
  root.append(
    make("p", { class: "bml-rule" }, "change of a weight = rate × ( ", halves[0], " − ", halves[1], " )"), words,
    make("div", { class: "bml-buttons" }, signs, free, ...(address ? [send] : [])));
  restyle();
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
