// Sliders over a figure that the kernel draws; two values are two buttons.
const REST = 200; // ms without a step, after which a dense display gets twice the pixels; they take half as long again

function mount(model, el) {
  const controls = model.get("controls"), stops = controls.map((c) => c.start);
  const image = make("img", { alt: model.get("alt"), src: "data:image/png;base64," + model.get("picture") });
  image.onload = () => { image.style.width ||= image.naturalWidth / 2 + "px"; };  // the stored picture is dense
  const words = make("pre", { role: "status" });
  let rest = 0;
  const ask = (dense = false) => {
    clearTimeout(rest);
    kernel.ask({ stops, dense });
  };
  const chosen = (k) => (stop) => { stops[k] = stop; ask(); };
  const control = ({ name, labels, start }, k) => labels.length === 2
    ? choice(name, labels, start, chosen(k))
    : slider(name, { min: 0, max: labels.length - 1, step: 1, value: start, show: (v) => labels[v] }, chosen(k));
  const root = frame(el, "explore",
    make("div", { class: "bml-controls" }, ...controls.map((c, k) => control(c, k).el)), image, words);
  const kernel = asker(model, root, (answer) => {
    clearTimeout(rest);
    if (devicePixelRatio > 1 && !answer.dense) rest = setTimeout(ask, REST, true);
    image.src = "data:image/png;base64," + answer.png;
    image.style.width = answer.width + "px";
    image.alt = controls.map((c, k) => `${c.name} = ${c.labels[answer.stops[k]]}`).join(", ") + ". " + answer.text;
    words.textContent = answer.text.trimEnd();
  });
  ask(devicePixelRatio > 1);
  return () => { clearTimeout(rest); kernel.stop(); };
}

export default alive(mount);
