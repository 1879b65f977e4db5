// What did you just see?  Five steps below the piece of the first page, each with a small machine of its own, which has
// learnt what the piece was shown.  (The module of it begins with the sampler, the learner and the wall of the piece.)
const { patterns, shape, colours, seed } = JSON.parse(
  document.querySelector(".bmlab-home .bmlab-live script").textContent).state;
const [H, W] = shape, n = H * W, PACE = 12;  // steps a second
const same = (a, b) => a.every((x, i) => x === b[i]), negative = (s) => s.map((x) => -x);

function taught(steps, from = seed) {
  const mind = learner(n, uniforms(from), { rate: 0.02 });
  for (let k = 0; k < steps; k++) mind.step(patterns, {});
  return mind;
}

// A lane with a bar, from one end to the other of a scale; set(x) is a share of its length.
function gauge(from, to, colour) {
  const bar = make("span", { class: "bml-bar", style: `background: ${colour}` });
  const el = make("div", { class: "bml-scale bml-note" }, from, make("span", { class: "bml-lane" }, bar), to);
  return { el, set: (x) => { bar.style.width = `${100 * Math.max(0, Math.min(1, x))}%`; } };
}

// Dreams on a wall, a step of the machine as often as in the piece above.
function dreaming(root, tones, across, count, move, ringed = []) {
  const wall = wallOf(count, [H, W], across, `${count} dreams`);
  let due = 0;
  const hang = (dreams, part) => wall.hang(dreams, tones(), part, { ringed });
  const playing = (dreams) => player(root, (seconds) => {
    due += seconds * PACE;
    if (due >= 1) { due %= 1; move(); }
    hang(dreams(), 1 - Math.exp(-18 * seconds));
  }, { playing: false });
  return { canvas: wall.canvas, hang, playing };
}

const STEPS = {
  coin(root, tones, say) {
    const mind = taught(40), gauged = gauge("never on", "always on", colours.gibbs);
    const places = mind.dreams.flatMap((dream) => dream.map((_, i) => [Math.abs(field(mind.machine, dream, i)), i, dream]));
    let [, chosen, s] = places.reduce((a, b) => a[0] < b[0] ? a : b);  // of all its dreams the fairest coin
    const pull = (i) => field(mind.machine, s, i);
    const next = uniforms(seed + 1);
    const look = () => {
      web.paint();
      gauged.set(chanceOfPlus(pull(chosen), 1));
    };
    const told = () => `It is pulled by ${signed(pull(chosen), 2, "+")}: on in ` +
      `${(100 * chanceOfPlus(pull(chosen), 1)).toFixed(1)} of 100 throws.`;
    const draw = (canvas, cell) => {
      const lines = Array.from(mind.machine.weights[chosen], (w, j) => [chosen, j, w * s[j]]);
      network(canvas, shape, cell, lines, s, tones(), s.map((x, i) => i === chosen ? x : 0));
    };
    const choose = (r, c) => {
      chosen = Math.floor(r) * W + Math.floor(c);
      look();
      say(told());
    };
    const web = pad(shape, { size: 300, ring: colours.gibbs, draw, put: choose, taps: true,
      words: "space chooses a cell", named: told });
    web.canvas.classList.add("bml-web");
    const toss = () => {
      const p = chanceOfPlus(pull(chosen), 1), thrown = Array.from({ length: 100 }, () => next() < p ? 1 : -1);
      s[chosen] = thrown.at(-1);
      look();
      say(`${told()} Thrown 100 times: on ${thrown.filter((x) => x > 0).length} times.`);
    };
    say(told());
    return { parts: [web.canvas, web.spoken, gauged.el, note([colours.together, "━", "pulls it on"],
      [colours.apart, "━", "pulls it off"], "Press another cell.")], buttons: [button("Throw it 100 times", toss)], look };
  },

  pair(root, tones, say) {
    const [i, j] = [0, W - 1], bars = [gauge("apart", "together", colours.together), gauge("apart", "together", colours.gibbs)];
    const often = (rows) => rows.reduce((sum, s) => sum + s[i] * s[j], 0) / rows.length;
    let mind = taught(0), dreamt = often(mind.dreams);
    const look = () => {
      bars[0].set((1 + often(patterns)) / 2);
      bars[1].set((1 + dreamt) / 2);
      wall.hang(mind.dreams, 1);
    };
    const move = () => {
      mind.step(patterns, {});
      dreamt = 0.95 * dreamt + 0.05 * often(mind.dreams);
      look();
      say(`Step ${mind.steps}: shown ${signed(often(patterns), 2, "+")}, dreamt ${signed(dreamt, 2, "+")}, ` +
        `so their weight is ${signed(mind.machine.weights[i][j], 2, "+")}.`);
    };
    const wall = dreaming(root, tones, 5, 10, move, [i, j]), run = wall.playing(() => mind.dreams);
    const learn = button("Learn it from noise", () => {
      mind = taught(0);
      dreamt = often(mind.dreams);
      run.toggle(true);
    });
    const scale = (words, bar) => make("div", {}, make("p", { class: "bml-note" }, words), bar.el);
    say("Step 0: noise, and all weights are 0.");
    return { parts: [wall.canvas, scale("The two cells when shown", bars[0]), scale("when dreaming", bars[1])],
      buttons: [learn, run.control], look };
  },

  minus(root, tones, say) {
    const mind = taught(150), heavy = gauge("0", "4", colours.together);
    let dreamt = 1;
    const largest = () => Math.max(...mind.machine.weights.map((row) => Math.max(...row.map(Math.abs))));
    const look = () => { heavy.set(largest() / 4); wall.hang(mind.dreams, 1); };
    const move = () => {
      mind.step(patterns, { dreamt });
      heavy.set(largest() / 4);
      say(`The largest weight is ${largest().toFixed(2)}.`);
    };
    const wall = dreaming(root, tones, 5, 10, move), run = wall.playing(() => mind.dreams);
    const take = button("Take away the minus", () => {
      dreamt = 1 - dreamt;
      take.textContent = dreamt ? "Take away the minus" : "Put it back";
      run.toggle(true);
    });
    return { parts: [wall.canvas, make("p", { class: "bml-note" }, "The largest of its 630 weights"), heavy.el],
      buttons: [take, run.control], look };
  },

  negatives(root, tones, say) {
    const mind = taught(200, seed + 7), { biases } = mind.machine, kept = [...biases];
    const count = () => {
      const shown = mind.dreams.filter((s) => patterns.some((p) => same(p, s))).length;
      const turned = mind.dreams.filter((s) => patterns.some((p) => same(negative(p), s))).length;
      say(`Of its ${mind.dreams.length} dreams ${shown} are letters, ${turned} negatives of letters, and the others on ` +
        "their way.");
    };
    const move = () => { mind.dream(); count(); };
    const wall = dreaming(root, tones, 6, mind.dreams.length, move), run = wall.playing(() => mind.dreams);
    const begin = () => {
      mind.dreams.forEach((_, k) => { mind.dreams[k] = mind.noise(); });
      run.toggle(true);
    };
    const take = button("Take the biases away", () => {
      const there = biases.some((x) => x);
      kept.forEach((x, i) => { biases[i] = there ? 0 : x; });
      take.textContent = there ? "Give them back" : "Take the biases away";
      begin();
    });
    mind.dreams.forEach((_, k) => { mind.dreams[k] = mind.noise(); });
    for (let k = 0; k < 40; k++) mind.dream();
    count();
    return { parts: [wall.canvas], buttons: [take, button("Dream anew", begin), run.control],
      look: () => wall.hang(mind.dreams, 1) };
  },
};

function build(step) {
  const words = make("p", { class: "bml-said", role: "status" });
  const say = (text) => {  // what changes twelve times a second is read, and not heard
    words.setAttribute("aria-live", root.dataset.playing === "true" ? "off" : "polite");
    words.textContent = text;
  };
  const place = make("div"), { probe, now } = seen(colours);
  step.append(place);
  const root = frame(place, "small", probe);
  const { parts, buttons, look } = STEPS[step.dataset.step](root, now, say);
  root.append(make("div", { class: "bml-buttons" }, ...buttons), ...parts, words);
  look();
}

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) {
    near.unobserve(target);
    build(target);
  }
}, { rootMargin: "300px" });
document.querySelectorAll(".bmlab-step[data-step]").forEach((step) => near.observe(step));

// The last step leads back: to the paper of the piece, ready to be drawn on.
document.querySelector("[data-draw]").addEventListener("click", () => {
  const paper = document.querySelector(".bmlab-home .bml-shown canvas[role=application]");
  paper?.scrollIntoView({ block: "center" });
  paper?.focus({ preventScroll: true });
});
