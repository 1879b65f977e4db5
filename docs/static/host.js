// Live views on a page without a kernel: the modules that a notebook uses, and what the site has stored in the place of
// what a kernel would answer.  A view is mounted as it comes near the window; until then, and where it fails, its picture.
const SITE = new URL("../", import.meta.url);
const read = async (url, as) => {
  const found = await fetch(url);
  if (!found.ok) throw new Error(`${url}: ${found.status}`);
  return found[as]();
};
const base64 = async (blob) => {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
};

// What a kernel would answer to the question of a view.
const ANSWERS = {
  async LearningView(folder) {
    const { frames, end } = await read(new URL("steps.json", folder), "json");
    return ({ from, to }) => ({ from, frames: frames.slice(from, to), end: to >= frames.length ? end : "" });
  },
  async Explorer(folder) {
    const words = await read(new URL("words.json", folder), "json");
    return async ({ stops }) => {
      const name = stops.join("-") || "0";
      return { stops, png: await base64(await read(new URL(`${name}.png`, folder), "blob")), width: 640, text: words[name] };
    };
  },
};

// Patterns of -1/+1 in the address of the page, #letters=..., in hexadecimal digits: what is drawn there can be sent.
const address = {
  write(patterns) {
    const digits = patterns.map((p) => p.map((x) => x > 0 ? 1 : 0).join("").replace(/.{1,4}/g,
      (four) => parseInt(four.padEnd(4, "0"), 2).toString(16)));
    history.replaceState(null, "", `#letters=${digits.join("-")}`);
  },
  read(n, most = 20) {
    const found = /^#letters=([0-9a-f-]+)$/.exec(location.hash)?.[1].split("-").slice(0, most) ?? [];
    return found.filter((digits) => digits.length === Math.ceil(n / 4)).map((digits) => Array.from(digits,
      (x) => parseInt(x, 16).toString(2).padStart(4, "0")).join("").slice(0, n).split("").map((x) => x > 0 ? 1 : -1));
  },
};

// The model of a view as anywidget hands it over: what is stored, and who hears the answers.
async function modelOf({ view, alt, state, folder }) {
  const place = new URL(folder, SITE), known = { alt, ...state }, heard = new Set();
  for (const [name, value] of Object.entries(known)) {
    if (value?.bytes) known[name] = new DataView(await read(new URL(value.bytes, place), "arrayBuffer"));
  }
  if (document.querySelector(".bmlab-home") && known.patterns) {
    const sent = address.read(known.patterns[0].length);
    if (sent.length) known.patterns = sent;
    known.address = address;
  }
  const answer = await ANSWERS[view]?.(place);
  if (known.controls) known.picture = (await answer({ stops: known.controls.map((c) => c.start) })).png;
  return {
    get: (name) => known[name],
    on: (event, f) => { if (event === "msg:custom") heard.add(f); },
    off: (event, f) => heard.delete(f),
    send: async (question) => {
      const found = await answer(question);
      for (const f of heard) f(found);
    },
  };
}

async function bringToLife(figure) {
  const stored = JSON.parse(figure.querySelector("script").textContent), picture = figure.querySelector("img");
  const [{ default: widget }, model] = await Promise.all([import(`./${stored.view}.js`), modelOf(stored)]);
  const el = document.createElement("div");
  figure.append(el);
  picture.hidden = true;
  widget.render({ model, el });
  figure.dataset.alive = "true";
  if (figure.closest(".bmlab-home")) awaitSteps(document.querySelector(".bmlab-steps"));
}

// The steps below the view of the first page are asked for by who comes to them.
function awaitSteps(steps) {
  new IntersectionObserver((entries, itself) => {
    if (!entries.at(-1).isIntersecting) return;
    itself.disconnect();
    import("./first_steps.js").catch((problem) => console.error(problem));
  }).observe(steps);
}

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) {
    near.unobserve(target);
    bringToLife(target).catch((problem) => console.error(problem));
  }
}, { rootMargin: "400px" });
document.querySelectorAll(".bmlab-live").forEach((figure) => near.observe(figure));
