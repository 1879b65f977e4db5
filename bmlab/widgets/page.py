"""Export of a notebook as one HTML file with the views that need no kernel: jupyter nbconvert --to bmlab NOTEBOOK"""

import json
from html import escape
from itertools import count

from nbconvert import HTMLExporter

from .. import widgets
from .predicting import alive
from .view import View

STANDALONE_VIEWS = {
    name: kind for name in widgets.__all__ if getattr(kind := getattr(widgets, name), "needs_no_kernel", False)
}
FIGURE_HTML = """<figure class="bmlab-figure"><img id="{id}" alt="{alt}" src="data:image/png;base64,{png}">
<style>{css}</style><script type="module">
{script}
const state = {state}, model = {{ get: (name) => state[name], on() {{}}, off() {{}} }};
const picture = document.getElementById("{id}"), view = make("div");
picture.after(view);
mount(model, view);
picture.style.display = "none";
</script></figure>"""


class Page(HTMLExporter):
    """Export a notebook as HTML: views that need no kernel live in it, offline; the others are pictures."""

    export_from_notebook = "HTML with live views"

    def from_notebook_node(self, nb, resources=None, **options):
        """Put the script of each such view beside its picture."""
        numbers = count(1)
        for output in [out for cell in nb.cells for out in cell.get("outputs", [])]:
            if 'class="bmlab-predict"' in (html := output.get("data", {}).get("text/html", "")):
                output.data["text/html"] = html if "<script>" in html else alive(html)
            stored = output.get("metadata", {}).get("image/png", {})
            if stored.get("bmlab", {}).get("view") in STANDALONE_VIEWS:
                output.data["text/html"] = live(stored, output.data["image/png"], f"bmlab-{next(numbers)}")
        return super().from_notebook_node(nb, resources, **options)


def live(stored: dict, png: str, identity: str) -> str:
    """Return HTML with the picture of a view, and the script that takes its place."""
    view, state = (
        STANDALONE_VIEWS[stored["bmlab"]["view"]],
        json.dumps(stored["bmlab"]["state"]).replace("<", "\\u003c"),
    )
    script = str(view._esm).replace("export default alive(mount);", "")
    return FIGURE_HTML.format(
        id=identity, alt=escape(stored["alt"]), png=png.strip(), css=View._css, script=script, state=state
    )
