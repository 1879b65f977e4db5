// A machine as a graph, its units in a circle, or, where it has two layers, the first `low` in a row below.
const word = (x, y, text, more = {}) => make("svg:text", { x, y, "text-anchor": "middle", ...more }, text);

// A long name in two lines.
function lines(x, y, text, more) {
  const words = text.split(" "), half = Math.ceil(words.length / 2);
  if (text.length <= 12 || half === words.length) return word(x, y, text, more);
  const line = (from, to, dy) => make("svg:tspan", { x, dy }, words.slice(from, to).join(" "));
  const all = { x, y: y - 7, "text-anchor": "middle", ...more };
  return make("svg:text", all, line(0, half, 0), line(half, words.length, 15));
}

// The units of a state as small discs within `size`: in their circle, or in a line where there is no room for one.
function discs(n, x, y, size) {
  const r = size < 20 ? 4 : size * (n < 3 ? 0.17 : 0.14), far = size / 2 - r - 1, turn = (i) => 2 * Math.PI * i / n;
  const place = (i) => size < 20 ? [x + 10 * (i - (n - 1) / 2), y]
    : [x + far * Math.sin(turn(i)), y - far * Math.cos(turn(i))];
  return Array.from({ length: n }, (_, i) => {
    const [cx, cy] = place(i);
    return make("svg:circle", { cx, cy, r, class: "bml-disc" });
  });
}

function showState(parts, k, colours) {
  const plus = (i) => (k >> (parts.length - 1 - i)) & 1;
  parts.forEach((disc, i) => disc.setAttribute("fill", plus(i) ? colours.gibbs : colours.minus));
}

// Fill units by their signs: blue is +1, white -1, grey open.
function showSigns(units, signs, colours) {
  units.forEach(({ disc, sign }, i) => {
    disc.setAttribute("fill", { 1: colours.gibbs, "-1": colours.minus, 0: colours.open }[signs[i]]);
    sign.textContent = { 1: "+", "-1": "−", 0: "" }[signs[i]];
    sign.setAttribute("style", `fill: ${signs[i] > 0 ? "white" : "#222"}; font-size: 16px`);
  });
}

// A group that is pressed by pointer or key.
function pressable(pressed, ...children) {
  const press = (event) => {
    if (event.key && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pressed();
  };
  return make("svg:g", { tabindex: 0, role: "button", onclick: press, onkeydown: press }, ...children);
}

function graph({ weights, biases, low }, names, colours, pressed) {
  const n = biases.length, few = n <= 4, radius = few ? 24 : 16;
  const largest = Math.max(...weights.flat().map(Math.abs)) || 1;
  const wide = names.some((name) => name.length > 12) ? 40 : 0;
  const svg = make("svg:svg", { viewBox: `${-wide} 0 ${320 + 2 * wide} 300`, role: "group",
    "aria-label": "The machine" });
  const row = (k, many) => 160 + (k - (many - 1) / 2) * Math.min(64, 280 / many);
  const place = (i, r) => low ? [i < low ? row(i, low) : row(i - low, n - low), 150 + (i < low ? 0.9 : -0.9) * r]
    : [160 + r * Math.sin(2 * Math.PI * i / n), 150 - r * Math.cos(2 * Math.PI * i / n)];
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) {
    const w = weights[i][j], [x1, y1] = place(i, 100), [x2, y2] = place(j, 100);
    if (w) svg.append(make("svg:line", { x1, y1, x2, y2, stroke: w > 0 ? colours.together : colours.apart,
      "stroke-width": 0.5 + 6 * Math.abs(w) / largest, "stroke-opacity": 0.85,
      "stroke-dasharray": w > 0 ? "none" : "9 5" }));
    if (w && few) svg.append(word((x1 + x2) / 2, (y1 + y2) / 2 + 4, signed(w, 1, "+"), { class: "bml-halo" }));
  }
  const units = biases.map((bias, i) => {
    const [x, y] = place(i, 100), [bx, by] = place(i, 100 + radius + 20);
    const ring = make("svg:circle", { cx: x, cy: y, r: radius + 5, class: "bml-ring" });
    const disc = make("svg:circle", { cx: x, cy: y, r: radius, class: "bml-unit" }), sign = word(x, y + 5, "");
    const g = pressable(() => pressed(i), ring, disc, sign);
    const name = names[i] + (few && bias ? `, b = ${signed(bias, 1, "+")}` : "");
    const anchor = low ? "middle" : bx < 130 ? "end" : bx > 190 ? "start" : "middle";
    const below = Math.abs(by - 150) < 9 ? y + radius + 16 : by > 150 ? Math.min(by + 22, 297) : by;
    svg.append(g, few ? word(Math.max(70, Math.min(bx, 250)), below, name, { class: "bml-soft" })
      : lines(bx, by + 4, name, { class: "bml-soft", "text-anchor": anchor }));
    return { g, disc, sign };
  });
  return { svg, units };
}
