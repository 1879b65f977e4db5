// What dreams are drawn with: colours for light pages and dark ones, and a wall that they hang on.

// The colours of states, of weights and of ink, as the page has them now; `probe` stands in the view.
function seen(colours) {
  const probe = make("span", { class: "bml-heard" });
  const tone = (css, part) => {
    probe.style.color = `color-mix(in srgb, ${css} ${part}%, var(--ink))`;
    return getComputedStyle(probe).color;
  };
  const now = () => ({ on: tone(colours.gibbs, 75), off: tone("var(--back)", 88), ink: tone("var(--ink)", 100), soft: tone("var(--soft)", 100),
    together: tone(colours.together, 75), apart: tone(colours.apart, 62) });
  return { probe, now };
}

// Patterns of H by W cells side by side, with a rim for frames; a cell goes from colour to colour in some frames.
function wallOf(count, [H, W], across, label) {
  const CELL = 10, RIM = 4, shades = Array.from({ length: count }, () => new Float64Array(H * W).fill(0.5));
  const canvas = make("canvas", { class: "bml-wall", role: "img", width: CELL * (across * (W + 1) - 1) + 2 * RIM,
    height: CELL * (Math.ceil(count / across) * (H + 1) - 1) + 2 * RIM, "aria-label": label }), sheet = canvas.getContext("2d");
  sheet.translate(RIM, RIM);
  const hang = (patterns, tones, part, { ringed = [], framed = [] } = {}) => {
    sheet.clearRect(-RIM, -RIM, canvas.width, canvas.height);
    shades.forEach((shade, k) => {
      const x = CELL * (k % across) * (W + 1), y = CELL * Math.floor(k / across) * (H + 1);
      const put = (how, i, by) => sheet[how](x + i % W * CELL + by, y + Math.floor(i / W) * CELL + by,
        CELL - 0.5 - 2 * by, CELL - 0.5 - 2 * by);
      [sheet.globalAlpha, sheet.fillStyle] = [1, tones.off];
      sheet.fillRect(x, y, W * CELL, H * CELL);
      sheet.fillStyle = tones.on;
      for (let i = 0; i < H * W; i++) {
        sheet.globalAlpha = shade[i] += part * ((patterns[k][i] > 0 ? 1 : 0) - shade[i]);
        put("fillRect", i, 0);
      }
      [sheet.globalAlpha, sheet.strokeStyle, sheet.lineWidth] = [1, tones.together, 3];
      for (const i of ringed) put("strokeRect", i, 1);
      [sheet.strokeStyle, sheet.lineWidth] = [tones.ink, RIM];
      if (framed[k]) sheet.strokeRect(x - RIM / 2, y - RIM / 2, W * CELL + RIM, H * CELL + RIM);
    });
  };
  return { canvas, hang };
}

// Units as discs, and lines between two of them that are as thick as their weight: lines are [i, j, weight], and
// dashed where they push apart; near 0 they are thin and grey.
function network(canvas, [H, W], cell, lines, state, tones, held = [], looked = -1) {
  const middle = (i) => [(i % W + 0.5) * cell, (Math.floor(i / W) + 0.5) * cell];
  canvas.clearRect(0, 0, W * cell, H * cell);
  for (const [i, j, weight] of lines) {
    const strong = Math.abs(weight);
    const colour = strong < 0.06 ? tones.soft : weight > 0 ? tones.together : tones.apart;
    canvas.globalAlpha = strong < 0.06 ? 0.8 : Math.min(0.9, 0.5 + 2.2 * strong);
    [canvas.strokeStyle, canvas.lineWidth] = [colour, strong < 0.06 ? 2.5 : Math.min(8, 3 + 5 * strong)];
    canvas.setLineDash(strong < 0.06 || weight > 0 ? [] : [9, 5]);
    canvas.beginPath();
    canvas.moveTo(...middle(i));
    canvas.lineTo(...middle(j));
    canvas.stroke();
  }
  canvas.globalAlpha = 1;
  canvas.setLineDash([]);
  state.forEach((x, i) => {
    canvas.beginPath();
    canvas.arc(...middle(i), 0.17 * cell, 0, 7);
    canvas.fillStyle = (held[i] || x) > 0 ? tones.on : tones.off;
    canvas.fill();
    [canvas.strokeStyle, canvas.lineWidth] = held[i] || i === looked ? [tones.ink, held[i] ? 5 : 3] : [tones.on, 1];
    canvas.stroke();
  });
}
