// What all views share: how a stored picture comes alive, and the few elements they are made of.

// The stored output of a view is a picture, and nothing else: a saved notebook never asks for a model that is gone.
// Where the model lives in the page, `mount(model, el)` draws into an element that takes the picture's place.
// A cell that scrolls out of sight may leave the page and come back; it is not mounted anew.
function alive(mount) {
  function initialize({ model }) {
    const source = "data:image/png;base64," + model.get("picture");
    const adopted = new Map();
    let planned = false;
    const look = () => {
      planned = false;
      for (const img of document.images) {
        if (img.dataset.bmlab || img.getAttribute("src") !== source) continue;
        const el = make("div");
        const unmount = mount(model, el);
        img.dataset.bmlab = "alive";
        img.style.display = "none";
        img.after(el);
        adopted.set(img, () => {
          unmount?.();
          el.remove();
          img.style.display = "";
          delete img.dataset.bmlab;
          adopted.delete(img);
        });
      }
    };
    const observer = new MutationObserver(() => planned || (planned = true, requestAnimationFrame(look)));
    observer.observe(document.body, { childList: true, subtree: true });
    look();
    return () => {
      observer.disconnect();
      for (const leave of [...adopted.values()]) leave();
    };
  }
  return { initialize, render: ({ model, el }) => mount(model, el) };
}

// make("div", { class: "x", onclick: f }, child, "text"); names of SVG elements begin with "svg:".
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

// A labelled slider; `show` says a value in words, `mark` is a value to point at.
function slider(label, { min, max, step, value, show = String, mark, markName }, oninput) {
  const number = make("output");
  const input = make("input", { type: "range", min, max, step, value, "aria-label": label });
  const set = (x) => {
    input.value = x;
    number.textContent = show(+input.value);
    input.setAttribute("aria-valuetext", number.textContent);
  };
  input.addEventListener("input", () => { set(input.value); oninput(+input.value); });
  set(value);
  const track = make("span", { class: "track" }, input);
  if (mark !== undefined) {
    track.style.setProperty("--at", (mark - min) / (max - min));
    track.append(make("span", { class: "mark", "aria-hidden": "true" }, markName));
  }
  const move = (steps) => { set(+input.value + steps * step); oninput(+input.value); };
  const el = make("label", { class: "slider" }, make("span", { class: "name" }, label), track, number);
  return { el, set, move, input };
}

// A line of words under a picture; [colour, sign, words] is an entry of its key.
function note(...parts) {
  const entry = ([colour, sign, words]) => [make("b", { style: `color: ${colour}` }, sign + " "), words + "   "];
  return make("p", { class: "note" }, ...parts.flatMap((part) => Array.isArray(part) ? entry(part) : [part]));
}

function button(label, onclick, attributes = {}) {
  return make("button", { type: "button", onclick, ...attributes }, label);
}

// Call step() once a frame while playing and in sight.  Where people ask for less motion, it waits for the button.
function player(root, step, names = ["Run", "Pause"]) {
  let playing = !matchMedia("(prefers-reduced-motion: reduce)").matches, seen = false, request = 0;
  const toggle = (to = !playing) => { playing = to; show(); };
  const control = button("", () => toggle(), { class: "primary" });
  const loop = () => { request = 0; if (playing && seen) { step(); go(); } };
  const go = () => { if (!request && playing && seen) request = requestAnimationFrame(loop); };
  const show = () => { control.textContent = names[+playing]; root.dataset.playing = playing; go(); };
  const sight = new IntersectionObserver(([entry]) => { seen = entry.isIntersecting; go(); });
  sight.observe(root);
  show();
  return { control, toggle, stop: () => { playing = false; sight.disconnect(); } };
}

// Ask the kernel, one question at a time: the newest wins, none queues up.
function asker(model, root, answered) {
  let waiting = false, newest = null;
  const hear = (answer) => {
    waiting = false;
    root.removeAttribute("aria-busy");
    answered(answer);
    if (newest) ask(newest);
  };
  const ask = (question) => {
    newest = waiting ? question : null;
    if (waiting) return;
    waiting = true;
    root.setAttribute("aria-busy", "true");
    try {
      model.send(question);
    } catch {                       // the kernel is gone; view.css says so
      waiting = false;
    }
  };
  model.on("msg:custom", hear);
  return { ask, stop: () => model.off("msg:custom", hear) };
}

// Axes in SVG: X and Y turn values into places, line() and text() add to them.
function axes(width, height, { x, y, xlabel, ylabel, xticks = [], yticks = [], title }) {
  const [left, right, top, bottom] = [ylabel ? 46 : 34, 10, 10, xlabel ? 34 : xticks.length ? 20 : 8];
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
  const tick = (t) => signed(t, Number.isInteger(t) ? 0 : 2);
  const at = ([a, b]) => X(a).toFixed(1) + " " + Y(b).toFixed(1);
  const path = (points) => points.length ? "M" + points.map(at).join("L") : "";
  const marks = (points, shape) => points.map((point) => "M" + at(point) + shape).join("");
  add("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` });
  for (const t of xticks) text(X(t), height - bottom + 13, tick(t), { "text-anchor": "middle", class: "tick" });
  for (const t of yticks) text(left - 5, Y(t) + 4, tick(t), { "text-anchor": "end", class: "tick" });
  if (xlabel) text((left + width - right) / 2, height - 4, xlabel, { "text-anchor": "middle" });
  const side = `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`;
  if (ylabel) text(0, 0, ylabel, { "text-anchor": "middle", transform: side });
  return { svg, X, Y, add, text, line, path, marks };
}
