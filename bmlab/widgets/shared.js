// The few elements that all views are made of.

// make("div", { class: "bml-x", onclick: f }, child, "text"); names of SVG elements begin with "svg:".
const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes = {}, ...children) {
  const svg = name.startsWith("svg:");
  const el = svg ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else el.setAttribute(key, value);
  }
  el.append(...children);
  return el;
}

// A number in words: signed(-0.5, 1) is "−0.5" with a true minus sign, signed(0.5, 1, "+") "+0.5".
function signed(x, digits, plus = "") {
  return (x < 0 ? "−" : plus) + Math.abs(x).toFixed(digits);
}

// The colour of a method: black is whatever is written in, so that it can be seen on black paper.
function colourOf(model, method) {
  const colour = model.get("colours")[method];
  return !colour || colour === "black" ? "var(--ink)" : colour;
}

// The frame of a view.  Keys typed in it are its own: the notebook's shortcuts do not hear them.
function frame(el, name, ...children) {
  const root = make("div", { class: `bmlab bmlab-${name}`, "data-lm-suppress-shortcuts": "true" }, ...children);
  root.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(root);
  return root;
}

// A labelled slider; `show` says a value in words.
function slider(label, { min, max, step, value, show = String }, oninput) {
  const number = make("span", { class: "bml-number", "aria-hidden": "true" });   // heard as aria-valuetext
  const input = make("input", { type: "range", min, max, step, value, "aria-label": label });
  let now = value;
  const set = (x) => {
    now = Math.max(min, Math.min(input.max, x));
    input.value = now;
    number.textContent = show(now);
    input.setAttribute("aria-valuetext", number.textContent);
  };
  const to = (x) => { set(x); oninput(now); };
  input.addEventListener("input", () => to(+input.value));
  set(value);
  const track = make("span", { class: "bml-track" }, input);
  const move = (steps) => to(Math.round((now + steps * step) / step) * step);
  const el = make("label", { class: "bml-slider" }, make("span", { class: "bml-name" }, label), track, number);
  return { el, set, move, input };
}

// A labelled choice between a few values, as buttons of which one is pressed.
function choice(label, values, value, onchoice) {
  const set = (to) => buttons.forEach((b, k) => b.setAttribute("aria-pressed", k === to));
  const buttons = values.map((name, k) => button(name, () => { set(k); onchoice(k); }));
  set(value);
  const el = make("div", { class: "bml-choice", role: "group", "aria-label": label },
    make("span", { class: "bml-name" }, label), ...buttons);
  return { el, set };
}

// Draw on a canvas: put(x, y), in parts of its width and height, closely along the stroke, or there are gaps.  Where a
// finger `taps` it draws no stroke.
function dragging(canvas, put, taps = false) {
  let before = null;
  const scrolls = (event) => taps && event.pointerType === "touch";
  const move = (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    const [x0, y0] = before ?? [x, y], length = Math.hypot((x - x0) * box.width, (y - y0) * box.height);
    const steps = Math.ceil(length / 6) || 1;
    for (let k = 1; k <= steps; k++) put(x0 + (x - x0) * k / steps, y0 + (y - y0) * k / steps);
    before = [x, y];
  };
  canvas.addEventListener("pointerdown", (event) => {
    before = null;
    if (scrolls(event)) return;
    canvas.setPointerCapture(event.pointerId);
    move(event);
  });
  canvas.addEventListener("pointermove", (event) => { if (event.buttons && !scrolls(event)) move(event); });
  canvas.addEventListener("click", (event) => { if (scrolls(event)) move(event); });
}

// Words that are heard and not seen.
function heard() {
  return make("p", { class: "bml-heard", role: "status" });
}

// A line of words under a picture; [colour, sign, words] is an entry of its key.
function note(...parts) {
  const entry = ([colour, sign, words]) =>
    [make("span", { class: "bml-entry" }, make("b", { style: `color: ${colour}` }, sign + " "), words), "   "];
  return make("p", { class: "bml-note" }, ...parts.flatMap((part) => Array.isArray(part) ? entry(part) : [part]));
}

function button(label, onclick, attributes = {}) {
  return make("button", { type: "button", onclick, ...attributes }, label);
}

// Call step(seconds) once a frame while playing and in sight; where people ask for less motion, from the button on.
function player(root, step, { names = ["Run", "Pause"], playing = true } = {}) {
  let seen = false, request = 0, before = 0;
  playing &&= !matchMedia("(prefers-reduced-motion: reduce)").matches;
  const toggle = (to = !playing) => { playing = to; show(); };
  const control = button("", () => toggle(), { class: "bml-primary" });
  const loop = (now) => {
    request = 0;
    if (!playing || !seen) return;
    step(before ? Math.min(now - before, 100) / 1000 : 0);
    before = now;
    go();
  };
  const go = () => { if (!request && playing && seen) request = requestAnimationFrame(loop); else before = 0; };
  const show = () => { control.textContent = names[+playing]; root.dataset.playing = playing; go(); };
  const sight = new IntersectionObserver((news) => { seen = news.at(-1).isIntersecting; go(); });
  sight.observe(root);
  show();
  return { control, toggle, stop: () => { playing = false; sight.disconnect(); } };
}

// Axes in SVG: X and Y turn values into places, line() and text() add to them.
function axes(width, height, { x, y, xlabel, ylabel, xticks = [], yticks = [], title }) {
  const tick = (t) => signed(t, Number.isInteger(t) ? 0 : 2);
  const beside = Math.max(46, 18 + 8 * Math.max(...yticks.map((t) => tick(t).length)));   // a label, and the longest tick
  const [left, right, top, bottom] = [ylabel ? beside : 34, 10, 10, xlabel ? 34 : xticks.length ? 20 : 8];
  const X = (v) => left + (v - x[0]) / (x[1] - x[0]) * (width - left - right);
  const Y = (v) => height - bottom - (v - y[0]) / (y[1] - y[0]) * (height - top - bottom);
  const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
  const add = (name, attributes, ...children) => {
    const el = make("svg:" + name, attributes, ...children);
    svg.append(el);
    return el;
  };
  const text = (px, py, words, attributes = {}) => add("text", { x: px, y: py, ...attributes }, words);
  const line = (attributes = {}) => add("path", { fill: "none", "stroke-width": 1.5, ...attributes });
  const at = ([a, b]) => X(a).toFixed(1) + " " + Y(b).toFixed(1);
  const path = (points) => points.length ? "M" + points.map(at).join("L") : "";
  const marks = (points, shape) => points.map((point) => "M" + at(point) + shape).join("");
  add("path", { class: "bml-axis", d: `M${left} ${top}V${height - bottom}H${width - right}` });
  for (const t of xticks) text(X(t), height - bottom + 13, tick(t), { "text-anchor": "middle", class: "bml-tick" });
  for (const t of yticks) text(left - 5, Y(t) + 4, tick(t), { "text-anchor": "end", class: "bml-tick" });
  if (xlabel) text((left + width - right) / 2, height - 4, xlabel, { "text-anchor": "middle" });
  const side = `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`;
  if (ylabel) text(0, 0, ylabel, { "text-anchor": "middle", transform: side });
  return { svg, X, Y, add, text, line, path, marks };
}
