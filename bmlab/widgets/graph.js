// A machine as a graph, where Python has drawn it: units, lines and words stand as in the stored picture.
const word = (x, y, text, more = {}) => make("svg:text", { x, y, "text-anchor": "middle", ...more }, text);

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

// Units are [x, y, radius], words [x, y, text, whether bold]; a line has [x, y, x, y] of each of its pieces, and is
// broken below words.
function graph({ box: [wide, high], units: places, lines, words }, colours, pressed) {
  const svg = make("svg:svg", { viewBox: `0 0 ${wide} ${high}`, role: "group", class: "bml-graph",
    "aria-label": "The machine" });
  for (const { pieces, width, apart } of lines) {
    svg.append(make("svg:path", { d: pieces.map(([x1, y1, x2, y2]) => `M${x1} ${y1}L${x2} ${y2}`).join(""), fill: "none",
      stroke: apart ? colours.apart : colours.together, "stroke-width": width,
      "stroke-dasharray": apart ? `${2.2 * width} ${1.2 * width}` : "none" }));
  }
  const units = places.map(([cx, cy, r], i) => {
    const ring = make("svg:circle", { cx, cy, r: r + 5, class: "bml-ring" });
    const disc = make("svg:circle", { cx, cy, r, class: "bml-unit" }), sign = word(cx, cy + 5, "");
    const g = pressable(() => pressed(i), ring, disc, sign);
    svg.append(g);
    return { g, disc, sign };
  });
  for (const [x, y, text, bold] of words) {
    const rows = text.split("\n"), first = y + 5 - 9 * (rows.length - 1);
    svg.append(make("svg:text", { "text-anchor": "middle", "font-weight": bold ? 700 : 400, class: "bml-name" },
      ...rows.map((row, k) => make("svg:tspan", { x, y: first + 18 * k }, row))));
  }
  return { svg, units };
}
