// Islands of a lattice: neighbours of one sign belong together.  For each unit, the number of units of its island.
function clusterSizes(s, L) {
  const sizes = new Int32Array(s.length), waiting = new Int32Array(s.length);
  for (let seed = 0; seed < s.length; seed++) {
    if (sizes[seed]) continue;
    let from = 0, to = 1;
    waiting[0] = seed;
    sizes[seed] = -1;                     // seen
    while (from < to) {
      const i = waiting[from++], row = Math.floor(i / L) * L, c = i - row;
      const up = i >= L ? i - L : i + s.length - L, down = i + L < s.length ? i + L : i + L - s.length;
      for (const j of [up, down, row + (c ? c - 1 : L - 1), row + (c + 1 < L ? c + 1 : 0)]) {
        if (sizes[j] === 0 && s[j] === s[i]) {
          sizes[j] = -1;
          waiting[to++] = j;
        }
      }
    }
    for (let k = 0; k < to; k++) sizes[waiting[k]] = to;
  }
  return sizes;
}

// The units under a stroke of the brush between two places, in units; a stroke has no gaps.
function stroke(L, [x0, y0], [x1, y1], radius) {
  const found = [], length = Math.hypot(x1 - x0, y1 - y0) ** 2 || 1;
  for (let row = 0; row < L; row++) for (let c = 0; c < L; c++) {
    const [x, y] = [c + 0.5 - x0, row + 0.5 - y0], [dx, dy] = [x1 - x0, y1 - y0];
    const along = Math.max(0, Math.min(1, (x * dx + y * dy) / length));
    if (Math.hypot(x - along * dx, y - along * dy) < radius) found.push(row * L + c);
  }
  return found;
}
