"""Predictions: the output of a cell stays folded until its reader has chosen A, B or C.

The question and its options stand in the text above, the answer in a <details> of a text below.  What is stored is HTML
without a script, a <details> that anybody can open; a page that runs the cell gets the buttons too (predict.js).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

from IPython.display import display
from IPython.utils.capture import CapturedIO, RichOutput, capture_output

from ..checking.calls import show_call
from ..plot.figures import cell_of_request
from .view import WIDGETS_FOLDER

CHOOSE = "Choose A, B or C. Then open this: what the cell says."
FOLDED_HTML = f"""<div class="bmlab-predict" data-name="{{name}}"><details><summary>{CHOOSE}</summary>
{{output}}
</details></div>"""

SIZES_HTML = {"width": "width", "data-points": "points"}  # attributes of a picture, by their names in its metadata


@show_call()
@contextmanager
def predict(name: str) -> Iterator[None]:
    """Keep the output of this block folded until A, B or C is chosen.

    name    of the prediction: "03.2" is the second of notebook 03; a later block of the same name opens with the first
    Printed lines come before figures.  If the block fails, all is shown.
    Raises ValueError for a name of another form.

    >>> from bmlab.widgets import predict
    >>> with predict("03.2"):  # doctest: +SKIP
    ...     print(bmlab.exact(bmlab.toy()))
    """
    if not re.fullmatch(r"\d\d[a-z]?\.\d", name):
        raise ValueError(f'name must be notebook and number, as "03.2", found {name!r}')
    captured = CapturedIO(None, None)
    try:
        with capture_output(stderr=False) as captured:
            yield
    except BaseException:
        captured.show()
        raise
    html, printed = _folded(name, captured), captured.stdout or f"Prediction {name}"
    display({"text/html": alive(html) if cell_of_request() else html, "text/plain": printed}, raw=True)


def alive(html: str) -> str:
    """Return the HTML of a prediction with the script that gives it buttons."""
    return f"{html}\n<script>{(WIDGETS_FOLDER / 'predict.js').read_text(encoding='utf-8')}</script>"


def _folded(name: str, captured: CapturedIO) -> str:
    parts = [f"<pre>{escape(captured.stdout)}</pre>"] * bool(captured.stdout) + [
        _shown(output) for output in captured.outputs
    ]
    return FOLDED_HTML.format(name=name, output="\n".join(parts))


def _shown(output: RichOutput) -> str:
    """Return the output of a cell as HTML: a picture with its words, a table, a text."""
    data, about = output.data, (output.metadata or {}).get("image/png", {})
    if "image/png" in data:
        size = "".join(f' {name}="{about[key]}"' for name, key in SIZES_HTML.items() if about.get(key))
        return (
            f'<img alt="{escape(about.get("alt", ""))}"{size} src="data:image/png;base64,{data["image/png"].strip()}">'
        )
    return data.get("text/html") or f"<pre>{escape(data.get('text/plain', ''))}</pre>"
