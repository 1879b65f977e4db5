// Sliders over a figure that the kernel draws.
function mount(model, el) {
  const controls = model.get("controls"), stops = controls.map((c) => c.start);
  const image = make("img", { alt: "" }), words = make("pre");
  const sliders = controls.map((c, k) => slider(c.name, {
    min: 0, max: c.labels.length - 1, step: 1, value: c.start, show: (v) => c.labels[v],
  }, (v) => { stops[k] = v; kernel.ask({ stops }); }));
  const root = frame(el, "explore", make("div", { class: "controls" }, ...sliders.map((s) => s.el)), image, words);
  const kernel = asker(model, root, (answer) => {
    image.src = "data:image/png;base64," + answer.png;
    image.alt = controls.map((c, k) => `${c.name} = ${c.labels[answer.stops[k]]}`).join(", ") + ". " + answer.text;
    words.textContent = answer.text.trimEnd();
  });
  kernel.ask({ stops });
  return kernel.stop;
}

export default alive(mount);
