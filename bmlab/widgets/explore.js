// Sliders over a figure that the kernel draws; two values are two buttons.
const REST = 200; // ms without a step, after which a dense display gets twice the pixels; they take half as long again

// A number in words that moves a slider as it is dragged, or by the keys left and right.
function handle(name, { move }) {
  let from = null;
  const label = `${name} in the text`;
  const onkeydown = (event) => {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!steps) return;
    event.preventDefault();
    move(steps);
  };
  const onpointerdown = (event) => { from = event.clientX; one.setPointerCapture(event.pointerId); };
  const onpointermove = (event) => {
    const steps = from === null ? 0 : Math.trunc((event.clientX - from) / 8);
    if (steps) { from += 8 * steps; move(steps); }
  };
  const leave = () => { from = null; };
  const one = make("span", { class: "bml-drag", role: "slider", tabindex: 0, "aria-label": label,
    onkeydown, onpointerdown, onpointermove, onpointerup: leave, onpointercancel: leave });
  return one;
}

function mount(model, el) {
  const controls = model.get("controls"), stops = controls.map((c) => c.start);
  const image = make("img", { alt: model.get("alt"), src: "data:image/png;base64," + model.get("picture") });
  image.onload = () => { image.style.width ||= image.naturalWidth / 2 + "px"; };  // the stored picture is dense
  const words = make("pre", { role: "status" }), names = controls.map(({ name, labels }) => labels.length > 2 && name);
  const inWords = new RegExp(`\\b(${names.join("|")}) = ([-+]?\\d+(?:\\.\\d+)?)`);
  let rest = 0;
  const ask = (dense = false) => {
    clearTimeout(rest);
    kernel.ask({ stops, dense });
  };
  const chosen = (k) => (stop) => { stops[k] = stop; ask(); };
  const control = ({ name, labels, start }, k) => labels.length === 2
    ? choice(name, labels, start, chosen(k))
    : slider(name, { min: 0, max: labels.length - 1, step: 1, value: start, show: (v) => labels[v] }, chosen(k));
  const made = controls.map(control);
  // Where the words say "T = 2" the number moves the slider of T; while it is the same T it stays in its place.
  const say = (text) => {
    const parts = text.split(inWords), of = parts.filter((_, k) => k % 3 === 1);  // words, name, number, words, ...
    const shown = parts.map((part, k) => k % 3 || k + 1 === parts.length ? part : `${part}${parts[k + 1]} = `);
    if (words.dataset.of !== of.join()) {
      words.dataset.of = of.join();
      const one = (k) => k % 3 ? handle(parts[k - 1], made[names.indexOf(parts[k - 1])]) : make("span");
      words.replaceChildren(...parts.flatMap((_, k) => k % 3 === 1 ? [] : [one(k)]));
    }
    shown.filter((_, k) => k % 3 !== 1).forEach((part, k) => {
      words.children[k].textContent = part;
      if (k % 2) words.children[k].setAttribute("aria-valuenow", parseFloat(part));
    });
  };
  const root = frame(el, "explore", make("div", { class: "bml-controls" }, ...made.map((one) => one.el)), image, words);
  const kernel = asker(model, root, (answer) => {
    clearTimeout(rest);
    if (devicePixelRatio > 1 && !answer.dense) rest = setTimeout(ask, REST, true);
    image.src = "data:image/png;base64," + answer.png;
    image.style.width = answer.width + "px";
    image.alt = controls.map((c, k) => `${c.name} = ${c.labels[answer.stops[k]]}`).join(", ") + ". " + answer.text;
    say(answer.text.trimEnd());
  });
  ask(devicePixelRatio > 1);
  return () => { clearTimeout(rest); kernel.stop(); };
}

export default alive(mount);
