// How a stored picture comes alive in a page, and what it hears of its kernel.

// The stored output of a view is a picture, and nothing else: a saved notebook never asks for a model that is gone.
// Where the model lives in the page, `mount(model, el)` draws into an element that takes the picture's place.
// A cell that scrolls out of sight may leave the page and come back; it is not mounted anew.
function alive(mount) {
  function initialize({ model }) {
    const source = "data:image/png;base64," + model.get("picture"), shown = new Map(), state = life(model);
    const owner = {
      offer(img, patience = 50) {
        const here = isHere(model, img);
        if (here === null && patience) setTimeout(() => owner.offer(img, patience - 1), 100);
        if (shown.has(img) || state() === "gone" || !(here ?? !patience)) return;
        img.alt = model.get("alt");
        const el = make("div", { style: `min-height: ${img.height}px` });  // so nothing below it moves up
        img.style.display = "none";
        img.after(el);  // before it is drawn in: only what stands in a page has that page's colours
        const unmount = mount(model, el);
        shown.set(img, () => { unmount?.(); el.remove(); img.style.display = ""; shown.delete(img); });
      },
      // A view whose kernel is gone stays where it is, and says so; once out of the page it does not come back.
      tidy() {
        if (state() !== "gone") return;
        for (const [img, leave] of [...shown]) if (!img.isConnected) leave();
        if (!shown.size) leave();
      },
    };
    const owners = globalThis.bmlabViews ??= register();
    const leave = () => {
      for (const one of [...shown.values()]) one();
      if (owners.get(source) === owner) owners.delete(source);
    };
    owners.set(source, owner);
    document.querySelectorAll("img").forEach(owners.offer);
    return leave;
  }
  return { initialize, render: ({ model, el }) => mount(model, el) };
}

// The register of a page: stored picture -> the model that brings it to life; no two views store the same one.
function register() {
  const owners = new Map();
  owners.offer = (img) => img.closest(".bmlab") || owners.get(img.getAttribute("src"))?.offer(img);
  new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) {
      if (node.nodeName === "IMG") owners.offer(node);
      else node.querySelectorAll?.("img").forEach(owners.offer);
    }
    for (const owner of [...owners.values()]) owner.tidy();
  }).observe(document.body, { childList: true, subtree: true });
  return owners;
}

// Whether a picture stands in the notebook of its model, null while that is not known: a copy of a file shows the same
// picture, and the kernel of the copy has not run.  JupyterLab says in the title of a tab which file its panel shows.
function isHere(model, img) {
  const panel = img.closest(".jp-NotebookPanel")?.id, context = model.widget_manager?.context;
  const tab = panel && context && document.querySelector(`.lm-TabBar-tab[data-id="${panel}"]`);
  if (!tab) return true;
  if (!tab.title) return null;
  return tab.title.split("\n").some((line) => line.endsWith(" " + (context.localPath ?? context.path)));
}

// What is known of the kernel behind a model: "busy", "idle", ..., "gone" for good, "" where a front end is silent.
// A restart ends the life that a model belongs to.
function life(model, ended = () => {}) {
  const kernel = () => { try { return model.widget_manager.kernel; } catch { return null; } };
  const first = kernel();
  let gone = false;
  model.on("comm_live_update", () => { gone = true; ended(); });
  return () => {
    if (gone || (first && (kernel() !== first || first.isDisposed || first.status === "dead"))) return "gone";
    return first?.status ?? "";
  };
}

// Ask the kernel, one question at a time: the newest wins, none queues up.  Who waits is told why.
const GONE = "The kernel is gone. Run the cell again to bring this to life.";
// (JupyterLab calls a kernel idle that has answered on its second channel and still computes on its first.)
const BUSY = "The kernel is busy; the answer comes when it is free.";

function asker(model, root, answered) {
  let waiting = 0, newest = null, watch = 0;
  const words = make("p", { class: "bml-kernel", role: "status" });
  const say = (text) => { if (words.textContent !== text) words.textContent = text; };
  const done = (text = "") => {
    clearInterval(watch);
    waiting = 0;
    root.removeAttribute("aria-busy");
    say(text);
  };
  const state = life(model, () => done(GONE));
  const look = () => {
    if (state() === "gone") done(GONE);
    else if (performance.now() - waiting > 1000) say(state() ? BUSY : "Waiting for the kernel; it is busy, or gone.");
  };
  const hear = (answer) => {
    const next = newest;
    done();
    answered(answer);
    if (next) ask(next);
  };
  const ask = (question) => {
    newest = waiting ? question : null;
    if (waiting) return;
    if (state() === "gone") return done(GONE);
    waiting = performance.now();
    root.setAttribute("aria-busy", "true");
    watch = setInterval(look, 250);
    try {
      model.send(question);
    } catch {
      done(GONE);
    }
  };
  model.on("msg:custom", hear);
  root.prepend(words);
  return { ask, stop: () => { clearInterval(watch); model.off("msg:custom", hear); } };
}
