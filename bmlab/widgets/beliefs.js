// A machine whose discs are filled as far as their units are likely to be +1, at the places that Python has chosen.
const RADIUS = 26;

// The part of a disc below a level, a share p of its height; beliefs.py draws the same.
function filled(p) {
  const y = RADIUS * (1 - 2 * Math.max(0.001, Math.min(p, 0.999))), x = Math.sqrt(RADIUS ** 2 - y ** 2);
  return `M${-x} ${y}A${RADIUS} ${RADIUS} 0 ${+(p > 0.5)} 0 ${x} ${y}Z`;
}

// How far down from the middle of a disc its number stands clear of that level, where it can
function aside(p) {
  if (p === null) return 0;
  const level = RADIUS * (1 - 2 * p);
  return p >= 0.5 ? Math.max(0, Math.min(level + 11, 6)) : Math.min(0, Math.max(level - 11, -6));
}

const HATCHED = [-0.6, 0, 0.6].map((d) => {  // what is not known
  const [a, b] = [-1, 1].map((end) => (d + end * Math.sqrt(1 - d * d)) * Math.SQRT1_2 * RADIUS);
  return `M${a} ${b}L${b} ${a}`;
}).join("");

// What is sent of a machine, and the probability that each unit is +1 where those of all states are known.
function sentMachine(model) {
  return Object.fromEntries(["weights", "biases", "low", "names", "places"].map((key) => [key, model.get(key)]));
}

function chances(p, n) {
  return Array.from({ length: n }, (_, i) => p.reduce((sum, x, k) => sum + ((k >> (n - 1 - i)) & 1 ? x : 0), 0));
}

function beliefs({ weights, places, names }, model, title, pressed) {
  const colours = model.get("colours"), [wide, high] = model.get("box"), lines = new Map();
  const most = Math.max(...weights.flat().map(Math.abs)) || 1;
  const svg = make("svg:svg", { viewBox: `0 0 ${wide} ${high}`, role: "group", "aria-label": title });
  const connect = (i, j, w) => {
    const [[x1, y1], [x2, y2]] = [places[i], places[j]];
    const line = make("svg:line", { x1, y1, x2, y2, stroke: w > 0 ? colours.together : colours.apart,
      "stroke-width": 0.5 + 6 * Math.abs(w) / most, "stroke-dasharray": w > 0 ? "none" : "9 5" });
    svg.prepend(line);
    lines.set(`${i} ${j}`, line);
  };
  weights.forEach((row, i) => row.forEach((w, j) => { if (w && j < i) connect(i, j, w); }));
  const units = places.map(([x, y], i) => {
    const [dx, dy, anchor] = model.get("labels")[i] ?? [0, 0, "none"];
    const disc = make("svg:circle", { r: RADIUS, class: "bml-unit", fill: colours.minus });
    const fill = make("svg:path", { fill: colours.gibbs });
    const hatch = make("svg:path", { d: HATCHED, stroke: colours.open, "stroke-width": 3 });
    const before = make("svg:path", { class: "bml-before" });
    const rim = make("svg:circle", { r: RADIUS, class: "bml-unit", fill: "none" });
    const number = word(0, 4, "", { class: "bml-inside" });
    const press = (event) => {
      if (event.key && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pressed(i);
    };
    const how = pressed ? { tabindex: 0, role: "button", onclick: press, onkeydown: press } : {};
    const g = make("svg:g", { transform: `translate(${x} ${y})`, class: "bml-node", ...how },
      make("svg:circle", { r: RADIUS + 5, class: "bml-ring" }), disc, fill, hatch, before, rim, number);
    svg.append(g);
    // A line of words at a unit, the name or what stands below it, in the measure of its letters
    const under = anchor === "middle" && dy > 0, start = under ? 11 : 0;
    const write = (line, text, kind) => svg.appendChild(word(x + dx, y + dy - start, text, { "text-anchor": anchor,
      dy: `${start / 12 + 1.25 * line}em`, class: `bml-halo ${kind}` }));
    if (anchor !== "none") write(0, names[i], "");
    return { g, fill, hatch, before, number, write, place: [x, y] };
  });
  // p from 0 to 1, or null where it is not known
  const show = (i, p, words, { kind = "", says = "" } = {}) => {
    const { g, fill, hatch, number } = units[i];
    fill.setAttribute("d", p === null ? "" : filled(p));
    hatch.setAttribute("visibility", p === null ? "visible" : "hidden");
    number.textContent = words;
    number.setAttribute("y", `${(4 + aside(p)) / 12}em`);  // of letters of 12, larger on a telephone
    number.style.fill = p >= 0.5 ? colours.minus : "";
    number.style.stroke = p >= 0.5 ? colours.gibbs : "";
    g.setAttribute("class", `bml-node ${kind}`);
    g.setAttribute("aria-label", `${names[i]}: ${says || words}`);
  };
  return { svg, units, lines, connect, show };
}
