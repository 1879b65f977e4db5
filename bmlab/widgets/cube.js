// The eight states of three units as the corners of a cube: a step along an edge turns one unit over.
function cube(colours, pressed) {
  const svg = make("svg:svg", { viewBox: "0 0 400 262", role: "group", "aria-label": "Eight states, a cube" });
  const TALL = 56;                        // of a pillar as high as the scale
  const corner = (k) => {
    const [x, y, z] = [2, 1, 0].map((bit) => (k >> bit) & 1);
    return [66 + 190 * x + 86 * y, 236 - 36 * y - 108 * z];
  };
  const line = (a, b) => make("svg:line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], class: "bml-edge" });
  for (let k = 0; k < 8; k++) for (const bit of [1, 2, 4]) if (!(k & bit)) svg.append(line(corner(k), corner(k | bit)));
  const pillars = Array.from({ length: 8 }, (_, k) => {
    const [x, y] = corner(k), name = signs(k, 3);
    const bar = (dx, fill) => make("svg:rect", { x: x + dx, y, width: 10, height: 0, fill });
    const exact = bar(-11, "currentColor"), count = bar(1, colours.gibbs);
    const label = make("svg:text", { x, y: y + 15, class: "bml-state bml-drawn" }, name);
    const state = discs(3, x, y + 15, 24);
    showState(state, k, colours);
    const spot = make("svg:rect", { x: x - 22, y: y - TALL, width: 44, height: TALL + 20, class: "bml-hit" });
    const g = make("svg:g", { class: "bml-row", onclick: () => pressed(k) }, exact, count, label, ...state, spot);
    return { g, exact, count, y };
  });
  const walker = make("svg:circle", { r: 7, class: "bml-walker", fill: colours.gibbs });
  svg.append(...[0, 1, 4, 5, 2, 3, 6, 7].reverse().map((k) => pillars[k].g), walker);
  const draw = (exact, share, now, scale) => {
    pillars.forEach((p, k) => [[p.exact, exact[k]], [p.count, share(k)]].forEach(([bar, value]) => {
      const height = Math.min(1, value / scale) * TALL;
      bar.setAttribute("height", height);
      bar.setAttribute("y", p.y - height);
    }));
    const [x, y] = corner(now);
    walker.style.transform = `translate(${x}px, ${y - 2}px)`;
  };
  return { svg, draw };
}
