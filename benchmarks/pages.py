"""The cost of live views to a page: frames a second, milliseconds of a frame and of a stroke, and growing memory.

    python benchmarks/pages.py [seconds [view ...]]      needs playwright, and chromium on the path or in CHROMIUM

Each view runs as it would in a notebook, alone in a page of a Chromium without a window, for some seconds (20; a view
that leaks is seen after 300). LearningView is answered from steps that were taken before.
"""

import base64
import json
import os
import shutil
import sys

import numpy as np
from playwright.sync_api import Page, sync_playwright

import bmlab
from bmlab.widgets import DrawView, LearningView, MachineView, PaintView
from bmlab.widgets.view import View

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
HOST = """<!doctype html><style>{css}</style><div id="view" style="width: 820px"></div><script type="module">
{script}
const state = {state}, frames = {frames}, ears = {{}};
for (const [name, text] of Object.entries({packed})) {{
  state[name] = new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}}
const send = ({{ from, to }}) => setTimeout(() =>
  ears["msg:custom"]({{ from, frames: frames.slice(from, to), end: to < frames.length ? "" : "The end." }}));
mount({{ get: (name) => state[name], on: (name, f) => {{ ears[name] = f; }}, off() {{}}, send }},
  document.getElementById("view"));
</script>"""
FRAMES = """(seconds) => new Promise(done => {
    const begun = performance.now();
    let frames = 0;
    const next = (now) => {
        if (now - begun > 1000 * seconds) return done(frames / seconds);
        frames++;
        requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
})"""
# A stroke of 40 moves over the canvas, until the next frame of the page.
STROKE = """async () => {
    const canvas = document.querySelector('canvas'), box = canvas.getBoundingClientRect(), times = [];
    for (let k = 0; k < 40; k++) {
        const place = { clientX: box.left + (0.1 + 0.02 * k) * box.width, clientY: box.top + 0.5 * box.height };
        const begun = performance.now();
        canvas.dispatchEvent(new PointerEvent('pointermove', { ...place, buttons: 1, bubbles: true }));
        await new Promise(requestAnimationFrame);
        await new Promise(done => setTimeout(done));
        times.push(performance.now() - begun);
    }
    return times.sort((a, b) => a - b)[20];
}"""


def views() -> dict[str, tuple[View, str]]:
    """Each view, and the button that sets it going, if there is one."""
    rng = np.random.default_rng(0)
    weights = [bmlab.symmetric(rng.normal(0, 0.05, (64, 64))) for _ in range(10)]
    readers = [bmlab.BoltzmannMachine(w, rng.normal(0, 0.5, 64)) for w in weights]
    climb = bmlab.learning_steps(
        bmlab.BoltzmannMachine(np.zeros((10, 10)), np.zeros(10)), rng.choice([-1, 1], (200, 10)), rate=0.01
    )
    return {
        "MachineView(toy())": (MachineView(bmlab.toy()), ""),
        "DrawView(), learning": (DrawView(), ""),
        "LearningView, 10 units": (LearningView(climb, steps=5), "Run"),
        "PaintView, 10 readers of 64 pixels": (PaintView(readers, np.zeros(10)), ""),
    }


def page_of(view: View) -> str:
    """A page in which the view lives without a kernel."""
    state = {
        name: getattr(view, name)
        for name in view.traits(sync=True)
        if name[0] != "_" and name not in ("layout", "tooltip")
    }
    packed = {
        name: base64.b64encode(state.pop(name)).decode() for name, x in list(state.items()) if isinstance(x, bytes)
    }
    frames = view._answer(0, 2000)["frames"] if isinstance(view, LearningView) else []
    script = str(view._esm).replace("export default alive(mount);", "")
    state, frames, packed = (json.dumps(x, default=str) for x in (state, frames, packed))
    return HOST.format(css=view._css, script=script, state=state, frames=frames, packed=packed)


def measured(page: Page, start: str, seconds: float) -> str:
    """Frames a second, processor milliseconds of a frame and of a stroke, and MB held at the beginning and the end."""
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable")

    def busy() -> float:
        return {m["name"]: m["value"] for m in tools.send("Performance.getMetrics")["metrics"]}["TaskDuration"]

    def held() -> float:
        tools.send("HeapProfiler.collectGarbage")
        return tools.send("Runtime.getHeapUsage")["usedSize"] / 1e6

    if start:
        page.get_by_role("button", name=start, exact=True).click()
    page.evaluate(FRAMES, 2)  # compiled
    first, before = held(), busy()
    rate = page.evaluate(FRAMES, seconds)
    each = (busy() - before) / (rate * seconds) * 1000
    stroke = f"{page.evaluate(STROKE):6.1f}" if page.locator("canvas").count() else "     -"
    return f"{rate:6.1f}  {each:6.1f}  {stroke}  {first:6.1f}  {held():6.1f}"


def main() -> None:
    """Print a line a view."""
    seconds, only = float(sys.argv[1]) if sys.argv[1:] else 20.0, sys.argv[2:] or [""]
    print(f"{'':36} frames/s  ms a frame, a stroke  MB at first, after {seconds:g} s")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"), args=FLAGS
        )
        for name, (view, start) in views().items():
            if not any(name.startswith(word) for word in only):
                continue
            page = browser.new_page()
            page.on("pageerror", lambda error: print(error, file=sys.stderr))
            page.set_content(page_of(view))
            print(f"{name:36}", measured(page, start, seconds), flush=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
