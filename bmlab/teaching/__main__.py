"""The command line: python -m bmlab.teaching handouts, or grade FOLDER."""

import argparse
import importlib.util
import os
import sys
from pathlib import Path

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # jsonschema's grammar of addresses: two seconds
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bmlab.teaching", description="Hand out and grade the notebooks.")
    commands = parser.add_subparsers(dest="command", required=True)
    handouts = commands.add_parser("handouts", help="make the student version and a zip of every notebook")
    handouts.add_argument("--out", type=Path, default=Path("handouts"))
    grade = commands.add_parser("grade", help="grade what was returned")
    grade.add_argument("folder", type=Path, help="a folder or a zip, as a learning platform delivers it")
    grade.add_argument("--out", type=Path, default=Path("graded"))
    grade.add_argument("--roster", type=Path, help="a CSV of the class: the absent have a line too")
    grade.add_argument("--due", default="", help='as "2026-11-20 23:59"')
    grade.add_argument("--late", default="", help='the share that is left, as "1 - 0.1 * ceil(hours / 24)"')
    grade.add_argument("--seconds", type=float, default=300, help="for one notebook; a cell gets a fifth of it")
    grade.add_argument("--gigabytes", type=float, default=4, help="memory of one notebook's process")
    grade.add_argument("--trust", action="store_true", help="run without a wall, as you: all of it has been read")
    return parser.parse_args()


def run(options: argparse.Namespace) -> None:
    """Do what was asked; the heavy imports come last, when it is known that they can be made."""
    if not NOTEBOOKS.is_dir():
        raise ValueError(f"there is no folder {NOTEBOOKS}; install the course from its own folder: pip install -e .")
    if not importlib.util.find_spec("nbgrader"):
        raise ValueError('nbgrader is not installed; pip install -e ".[teach]"')
    if options.command == "handouts":
        from .handouts import hand_out

        hand_out(NOTEBOOKS, options.out, say=print)
    elif os.name != "posix":
        raise ValueError("grading runs on Linux and macOS only: other systems have no limits for a process")
    else:
        from .grading import grade

        chosen = {name: value for name, value in vars(options).items() if name not in ("command", "folder", "out")}
        grade(NOTEBOOKS, options.folder, options.out, say=print, **chosen)


if __name__ == "__main__":
    try:
        run(arguments())
    except ValueError as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit("stopped; what is done is kept and written, and the same command goes on from there")
