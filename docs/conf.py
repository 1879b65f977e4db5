"""Sphinx makes build/site of build/pages, which pages.py writes: make site"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import bmlab  # noqa: E402

project, author, release = "bmlab", "bmlab contributors", bmlab.__version__
copyright = "bmlab contributors, BSD-3-Clause"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
exclude_patterns = ["**.ipynb_checkpoints"]

# Notebooks show what they store; nothing is run here.
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
    "logo": {"text": "bmlab"},
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
nitpick_ignore_regex = [(r"py:.*", r"(?!bmlab\.).*")]  # what is not ours has a manual of its own


def as_paragraphs(app, what, name, obj, options, lines):
    """A docstring is plain text: sentences, rows of names and what they are, and formulas, which stay as they stand."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip())
    lines[:] = "\n\n".join(map(as_rest, paragraphs)).split("\n") if lines else []


def as_rest(paragraph):
    if ">>>" in paragraph:
        return paragraph
    if paragraph.startswith(" "):
        return ".. code-block:: text\n\n" + re.sub("^", "    ", paragraph, flags=re.MULTILINE)
    blocks, wide = [], re.search(r"^(\S+(?:, \S+)*) {2,}(?=\S)", paragraph, re.MULTILINE)
    for line in paragraph.split("\n"):
        name = wide and name_in(line, wide.end() - wide.start())
        if name:
            blocks.append([name, line[len(name) :].strip()])
        elif line.startswith(" ") or (blocks and len(blocks[-1]) == 1):
            blocks[-1][-1] += " " + line.strip()
        else:
            blocks.append([line])
    return "\n\n".join("\n    ".join(map(words, block)) for block in blocks)


def name_in(line, column):
    """The names that a row begins with: alone before the column where texts begin, or far from what follows."""
    aligned = re.fullmatch(r"(\w+(?:, \w+)*) +", line[:column]) if len(line) > column else None
    found = aligned or re.match(r"(\S.{0,40}?) {3,}\S", line)
    return found[1] if found else ""


def words(text):
    """Escape what reStructuredText would read as marks; what stands in backquotes is code."""
    parts = re.split(r"`+([^`]+)`+", text)
    return "".join(f"``{x}``" if k % 2 else re.sub(r"([\\*`|_\"])", r"\\\1", x) for k, x in enumerate(parts))


# What NumPy's ArrayLike stands for, written out, says less than its name.
ARRAY_LIKE = re.compile(r"[\w.~]*_Buffer \| .*?NestedSequence\[complex \| bytes \| str\]")


def with_short_types(app, what, name, obj, options, signature, returns):
    return signature and ARRAY_LIKE.sub("ArrayLike", signature), returns


def with_scripts(app, name, template, context, doctree):
    """Predictions and places to think are on notebooks' pages only."""
    for script in ("predict.js", "think.js") if name.startswith("notebooks/") else ():
        app.add_js_file(script, defer="defer")


def setup(app):
    app.connect("html-page-context", with_scripts)
    app.connect("autodoc-process-docstring", as_paragraphs)
    app.connect("autodoc-process-signature", with_short_types)
