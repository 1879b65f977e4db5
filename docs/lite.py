"""Make the course as JupyterLab in a page, in build/lite: make lite

JupyterLite is JupyterLab as files, without a server; its kernel is Pyodide, Python in the reader's browser.  It opens
the notebooks as students get them, with their tables, and installs bmlab from a wheel that stands beside them.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bmlab_teaching.working_copies import beside, working_copy

ROOT = Path(__file__).resolve().parents[1]
MADE, LITE = ROOT / "build/lite-sources", ROOT / "build/lite"
EXTENSIONS = {  # name -> where it is installed; the kernel by `make lite`, where JupyterLab does not look
    "@jupyter-widgets/jupyterlab-manager": sys.prefix,
    "@jupyterlite/pyodide-kernel-extension": ROOT / "build/lite-kernel",
    "anywidget": sys.prefix,
}
PYTHON = re.compile(r"https://[^\"'\s]*/pyodide\.mjs")
INSTALL = """# The first time some minutes: Python and its packages come to your browser, bmlab from the course itself.
%pip install -q boltzmann-lab matplotlib pandas scikit-learn tqdm ipywidgets anywidget"""

# Without a network a cell would never end; the probe asks for the file that starts Python.
OFFLINE = """<script>
addEventListener("load", () => fetch("{python}", {{ method: "HEAD" }}).catch(() => {{
  const said = document.createElement("p");
  said.setAttribute("role", "alert");
  said.style = "position: fixed; inset: auto 0 0; z-index: 9999; padding: 1em; background: #fec; color: #222";
  said.textContent = "Python cannot start here: it comes from {host}, which this network does not reach. " +
    "The pages of the site need no Python, and make lab needs no network once it is installed.";
  document.body.append(said);
}}));
</script>
</head>"""


def in_the_browser(path: Path) -> NotebookNode:
    """Return a student's copy of a notebook whose first code cell installs the packages that it needs."""
    notebook = working_copy(path)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    first.source = f"{INSTALL}\n{first.source}"
    notebook.metadata.kernelspec = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
    return notebook


def main() -> None:
    for folder in (MADE, LITE):
        shutil.rmtree(folder, ignore_errors=True)
    (MADE / "files/tables").mkdir(parents=True)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        (MADE / "files" / path.name).write_text(nbformat.writes(in_the_browser(path)), encoding="utf-8")
        for name, content in beside(path).items():
            (MADE / "files" / name).write_bytes(content)
    build = [sys.executable, "-m", "build", "--wheel", "--installer=uv", "--outdir", MADE / "pypi", ROOT]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    options = {
        "apps": ["lab"],
        "contents": ["files"],
        "federated_extensions": [
            str(Path(place) / "share/jupyter/labextensions" / name) for name, place in EXTENSIONS.items()
        ],
        "ignore_sys_prefix": True,  # other packages that a teacher has installed stay out
        "no_sourcemaps": True,
        "output_dir": str(LITE),
    }
    (MADE / "jupyter_lite_config.json").write_text(json.dumps({"LiteBuildConfig": options}, indent=1))
    subprocess.run([sys.executable, "-m", "jupyterlite_core.app", "build", "--lite-dir", MADE], check=True, cwd=MADE)
    scripts = (file.read_text(encoding="utf-8") for file in sorted((LITE / "extensions/@jupyterlite").rglob("*.js")))
    python = next(found[0] for found in map(PYTHON.search, scripts) if found)
    page = LITE / "lab/index.html"
    said = OFFLINE.format(python=python, host=python.split("/")[2])
    page.write_text(page.read_text(encoding="utf-8").replace("</head>", said, 1), encoding="utf-8")


if __name__ == "__main__":
    main()
