"""Sphinx makes build/site of build/pages, which pages.py writes: make site"""

import inspect
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

sys.path.insert(0, str(HERE))

import reference  # noqa: E402

import bmlab  # noqa: E402

project, author, release = "bmlab", "bmlab contributors", bmlab.__version__
copyright = "bmlab contributors, BSD-3-Clause"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
exclude_patterns = ["**.ipynb_checkpoints"]

# Notebooks show their stored outputs; nothing is run here.
nb_execution_mode = "off"
nb_ipywidgets_js = {}
nb_code_prompt_show = "Code"
nb_code_prompt_hide = "Code"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
# A notebook may go from its title to a smaller heading; a field may have the name of a type, such as bytes.
suppress_warnings = ["myst.header", "ref.python"]

# All from the site itself.
mathjax_path = "mathjax/tex-chtml.js"
html_theme = "pydata_sphinx_theme"
html_title, html_short_title = "bmlab: a course on Boltzmann machines", "bmlab"
html_favicon = str(HERE / "static/favicon.svg")
html_static_path = [str(HERE / "static"), "../build/static"]
html_extra_path = ["../build/extra"]
html_css_files = ["view.css", "site.css"]
html_js_files = [("host.js", {"type": "module"}), ("search.js", {"defer": "defer"})]
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "text": "bmlab",
        "image_light": str(HERE / "static/favicon.svg"),
        "image_dark": str(HERE / "static/favicon.svg"),
    },
    "header_links_before_dropdown": 6,
    "show_toc_level": 1,
    "navigation_with_keys": False,
    "back_to_top_button": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system has it

# The reference: types and defaults from the code, words from the docstrings.
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "member-order": "bysource"}
nitpicky = True
nitpick_ignore = [  # without a page of their own: a sequence of arrays, and whatever a student's variants are
    ("py:class", "bmlab.running.sparsity.ColourClasses"),
    ("py:class", "bmlab.exercises.student_copy.Numbers"),
]
nitpick_ignore_regex = [(r"py:.*", r"(?!bmlab\.).*")]  # other libraries have manuals of their own


# Arguments that many functions take, if a docstring says nothing of its own.
COMMON = {
    "model": "the machine",
    "rng": "a generator, or an int that seeds one",
    "data": "(N, v) of -1/+1 for the first v units; columns with names go to the units of these names",
    "infer": "the method that answers: model -> Estimate",
    "burn_in": "sweeps before the first that counts",
    "n_sweeps": "sweeps that count",
    "n_chains": "chains side by side",
    "max_sweeps": "maximum number of sweeps",
    "max_steps": "maximum number of steps",
    "tolerance": "largest change at which it ends",
    "free_start": "where the free phase starts, as in fit()",
    "penalty": "as in fit()",
}
RETURNS = {
    "Estimate": "means, correlations and log Z, each with how sure it is",
    "Fit": "the machine that was learnt, and whether its learning has converged",
    "Bounded": "a number with its standard error or its bounds",
}


def as_paragraphs(app, what, name, obj, options, lines):
    """A docstring is plain text: sentences, rows of names with their meanings, and formulas, which are not changed.

    Rows of arguments, and the sentence on errors, become fields; every argument has one.
    """
    if not lines:
        return
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip())
    takes, fields = arguments(obj) if what in ("function", "method", "class") else {}, {}
    texts = [text for paragraph in paragraphs if ">>>" not in paragraph if (text := as_rest(paragraph, takes, fields))]
    fields = {f"param {one}": fields.get(f"param {one}", words(COMMON.get(one, ""))) for one in takes} | fields
    if what == "function" and (back := returned(obj, paragraphs[0])):
        fields["returns"] = words(back)
    listed = "\n".join(f":{field}: {text}" for field, text in fields.items())
    where = reference.taught(name.removeprefix("bmlab.")) if name.count(".") == 1 else None
    notebook = [f"Taught in :doc:`/notebooks/{where.stem}`."] if where and what in ("function", "class") else []
    examples = [paragraph for paragraph in paragraphs if ">>>" in paragraph]
    lines[:] = "\n\n".join([*texts, *filter(None, [listed]), *notebook, *examples, ""]).split("\n")


def arguments(obj):
    """The names that a function takes by name or place, in their order."""
    try:
        taken = inspect.signature(obj).parameters
    except (TypeError, ValueError):
        return {}
    return dict.fromkeys(name for name in taken if name not in ("self", "args", "kwargs"))


def returned(obj, first):
    """A function's result: as its first sentence says, or its type."""
    if found := re.match(r"Return (.*?)(?:[.:;]\s|[.:;]?$)", " ".join(first.split("\n")[:2])):
        return found[1]
    return RETURNS.get(str(getattr(obj, "__annotations__", {}).get("return", "")).rpartition(".")[2], "")


RAISES = re.compile(r"(?:^|(?<=\.\s))Raises (\w+) ((?:.|\n)*?)(?:\.(?=\s|$)|$)")


def as_rest(paragraph, takes=(), fields=None):
    """A paragraph as reStructuredText, but for rows of arguments and sentences on errors, which go to the fields."""
    fields = {} if fields is None else fields
    if paragraph.startswith(" "):
        return ".. code-block:: text\n\n" + re.sub("^", "    ", paragraph, flags=re.MULTILINE)
    for error, why in RAISES.findall(paragraph):
        fields[f"raises {error}"] = words(" ".join(why.split()))
    blocks, wide = [], re.search(r"^(\S+(?:, \S+)*) {2,}(?=\S)", paragraph, re.MULTILINE)
    for line in RAISES.sub("", paragraph).rstrip().split("\n"):
        name = wide and name_in(line, wide.end() - wide.start())
        if name:
            blocks.append([name, line[len(name) :].strip()])
        elif line.startswith(" ") or (blocks and len(blocks[-1]) == 1):
            blocks[-1][-1] += " " + line.strip()
        else:
            blocks.append([line])
    kept = []
    for block in blocks:
        named = block[0].split(", ") if len(block) == 2 else []
        if named and all(one in takes for one in named):
            fields |= {f"param {one}": words(block[1]) for one in named}
        else:
            kept.append(block)
    return "\n\n".join("\n    ".join(map(words, block)) for block in kept if any(part.strip() for part in block))


def name_in(line, column):
    """The names that a row begins with: alone before the column where texts begin, or far from what follows."""
    aligned = re.fullmatch(r"(\w+(?:, \w+)*) +", line[:column]) if len(line) > column else None
    found = aligned or re.match(r"(\S.{0,40}?) {3,}\S", line)
    return found[1] if found else ""


def words(text):
    """Escape characters that reStructuredText would read as marks; text in backquotes is code."""
    parts = re.split(r"`+([^`]+)`+", text)
    return "".join(f"``{x}``" if k % 2 else re.sub(r"([\\*`|_\"])", r"\\\1", x) for k, x in enumerate(parts))


# NumPy's ArrayLike, written out, says less than its name.
ARRAY_LIKE = re.compile(r"[\w.~]*_Buffer \| .*?NestedSequence\[complex \| bytes \| str\]")


def with_short_types(app, what, name, obj, options, signature, returns):
    return signature and ARRAY_LIKE.sub("ArrayLike", signature), returns


def with_scripts(app, name, template, context, doctree):
    """Predictions and places to think are on notebooks' pages only."""
    for script in ("predict.js", "think.js") if name.startswith("notebooks/") else ():
        app.add_js_file(script, defer="defer")
    if not name.startswith("notebooks/"):
        context["css_files"] = [one for one in context["css_files"] if "mystnb" not in str(one.filename)]


def setup(app):
    app.connect("html-page-context", with_scripts)
    app.connect("autodoc-process-docstring", as_paragraphs)
    app.connect("autodoc-process-signature", with_short_types)
