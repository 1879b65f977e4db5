"""Open your copy of the course in JupyterLab: python -m bmlab [--sources] [options of JupyterLab]

Run it in the folder of the course, with the packages of its environment.  Your copy, in course/, has no solutions and
is never overwritten; --sources opens the notebooks themselves.
"""

import os
import sys
from importlib.metadata import PackageNotFoundError, metadata
from importlib.util import find_spec
from pathlib import Path

ELSEWHERE = (
    "The course is not in this folder: it is no part of the package. Go to the folder that has "
    "its Makefile and its notebooks/{where}, then `make lab` there, or what its README says for a machine without make"
)
WITHOUT_LAB = "Its packages are not here ({}): `make lab`, or what the README says for a machine without make"


def lab_options(options: list[str]) -> list[str]:
    """Return JupyterLab's options: reachable from this computer only, with its token, at the course's first page."""
    page = "notebooks/00_start" if "--sources" in options else "course/course"
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    rest = [option for option in options if option != "--sources"]
    return ["--ip=127.0.0.1", f"--LabApp.default_url=/lab/tree/{page}.ipynb", *as_root, *rest]


def source() -> str:
    """Return the address of the project's repository from the metadata of the distribution; "" if it has none."""
    try:
        told = metadata("boltzmann-lab").get_all("Project-URL", [])
    except PackageNotFoundError:  # run from the folder without being installed
        return ""
    return dict(url.split(", ", 1) for url in told).get("Source", "")


def main(options: list[str]) -> None:
    """Copy new notebooks into course/ and start JupyterLab; exit with a sentence if the course or it is missing."""
    if not Path("notebooks/00_start.ipynb").exists():
        sys.exit(ELSEWHERE.format(where=f" (from {home})" if (home := source()) else ""))
    if missing := [name for name in ("bmlab_teaching", "jupyterlab") if find_spec(name) is None]:
        sys.exit(WITHOUT_LAB.format(", ".join(missing)))
    if "--sources" not in options:
        from bmlab_teaching.working_copies import start

        start()
    os.environ.setdefault("PYTHONSTARTUP", str(Path(__file__).with_name("exercises") / "startup.py"))
    from jupyterlab.labapp import LabApp

    settings = [str(Path("notebooks/.jupyter").resolve()), os.environ.get("JUPYTER_CONFIG_PATH")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, settings))  # no question about news
    LabApp.launch_instance(argv=lab_options(options))


if __name__ == "__main__":
    main(sys.argv[1:])
