// Paper of H by W pixels, for pointer and keys: colour(i) is that of a pixel, named(i) what is heard of it, dot(i)
// whether it bears a mark, hatched(i) the colour of its hatch, and put(row, column) what a stroke does, in pixels;
// draw(paper, cell) draws no squares, look(i) is told which pixel is pointed at.  A finger draws strokes, or where `taps`, puts one pixel, and its strokes move the
// page.
function rgb(css) {
  return css.match(/\w\w/g).map((x) => parseInt(x, 16));
}

function mix(a, b, t) {
  return `rgb(${rgb(a).map((x, k) => Math.round(x + t * (rgb(b)[k] - x)))})`;
}

function pad([H, W], { size, ring, colour, named, dot = () => false, hatched = () => null, put, draw = null, look = null,
  words = "space draws", taps = false }) {
  const cell = Math.floor(size / W), gap = cell > 20 ? 1 : 0;
  const canvas = make("canvas", { width: W * cell, height: H * cell, tabindex: 0, role: "application",
    class: taps ? "" : "bml-drawn-on", "aria-label": `Paper of ${H} by ${W} pixels. Arrow keys move, ${words}.` });
  const paper = canvas.getContext("2d"), spoken = heard();
  let cursor = [H >> 1, W >> 1];
  const hatch = (x, y, ink) => {
    paper.strokeStyle = ink;
    paper.lineWidth = 1;
    paper.beginPath();
    for (const k of [0.5, 1.5]) {  // meets that of the next cell
      const [low, high] = [Math.max(0, k - 1) * cell, Math.min(1, k) * cell];
      paper.moveTo(x + low, y + high);
      paper.lineTo(x + high, y + low);
    }
    paper.stroke();
  };
  const paint = () => {
    draw?.(paper, cell);
    for (let i = 0; i < H * W && !draw; i++) {
      const [x, y] = [(i % W) * cell, Math.floor(i / W) * cell];
      paper.fillStyle = colour(i);
      paper.fillRect(x, y, cell - gap, cell - gap);
      if (hatched(i)) hatch(x, y, hatched(i));
      if (!gap || !dot(i)) continue;
      paper.fillStyle = "#999999";
      paper.fillRect(x + cell / 2 - 2, y + cell / 2 - 2, 4, 4);
    }
    if (document.activeElement !== canvas || !canvas.matches(":focus-visible")) return;
    [paper.strokeStyle, paper.lineWidth] = [ring, 3];
    paper.strokeRect(cursor[1] * cell + 2, cursor[0] * cell + 2, cell - 5, cell - 5);
  };
  dragging(canvas, (x, y) => { if (x >= 0 && x < 1 && y >= 0 && y < 1) put(y * H, x * W); }, taps);
  for (const kind of look ? ["pointermove", "pointerdown"] : []) canvas.addEventListener(kind, (event) => {
    const box = canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / box.height * H);
    const column = Math.floor((event.clientX - box.left) / box.width * W);
    if (row >= 0 && row < H && column >= 0 && column < W) look(row * W + column);
  });
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    const by = moves[event.key];
    if (!by && event.key !== " ") return;
    event.preventDefault();
    if (by) cursor = [(cursor[0] + by[0] + H) % H, (cursor[1] + by[1] + W) % W];
    else put(cursor[0] + 0.5, cursor[1] + 0.5);
    const [row, column] = cursor;
    look?.(row * W + column);
    spoken.textContent = `Row ${row + 1}, column ${column + 1}: ${named(row * W + column)}.`;
    paint();
  });
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, paint);
  return { canvas, spoken, paint };
}

// A small image: a pixel of the canvas for each, W in a row, from the place (x, y) on.
function stamp(canvas, colours, [x, y] = [0, 0], W = canvas.width) {
  const paper = canvas.getContext("2d");
  colours.forEach((colour, i) => {
    paper.fillStyle = colour;
    paper.fillRect(x + i % W, y + Math.floor(i / W), 1, 1);
  });
  return canvas;
}
