"""The command line: python -m bmlab_teaching handouts, grade DELIVERY, or mark."""

import argparse
import io
import os
import sys
from pathlib import Path


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bmlab_teaching", description="Hand out and grade notebooks.")
    parser.add_argument("--notebooks", type=Path, help="the sources, with solutions (mark: those that were graded)")
    commands = parser.add_subparsers(dest="command", required=True)
    handouts = commands.add_parser("handouts", help="make the student version and a zip of every notebook")
    grade = commands.add_parser("grade", help="grade what was returned")
    grade.add_argument("delivery", type=Path, help="a folder or a zip, as a learning platform delivers it")
    grade.add_argument(
        "--seconds", type=float, default=300, help="of the processor, for one notebook; a cell may take a fifth of it"
    )
    grade.add_argument("--gigabytes", type=float, default=4, help="memory of one notebook's process")
    grade.add_argument("--trust", action="store_true", help="run without a sandbox, as you: all of it has been read")
    mark = commands.add_parser("mark", help="write the tables again, with the points in by_hand.csv")
    for command in (grade, mark):
        command.add_argument("--roster", type=Path, help="the table of the class that your platform exports")
        command.add_argument("--column", default="", help="the head of its column that takes the marks")
    for command, place in (handouts, "handouts"), (grade, "graded"), (mark, "graded"):
        command.add_argument(
            "--out", type=Path, default=Path(place), help=f"the folder to write to; without it {place}"
        )
    return parser.parse_args()


def run(options: argparse.Namespace) -> None:
    """Run a command; heavy imports are made only by the commands that need them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name in letters that a terminal has not stops nothing
    notebooks = options.notebooks or Path("notebooks")
    if not notebooks.is_dir():
        raise ValueError(f"there is no folder {notebooks}; type this in the folder of the course")
    if options.command == "handouts":
        from .handouts import hand_out

        return hand_out(notebooks, options.out, report=print)
    if os.name != "posix":
        raise ValueError("grading runs on Linux and macOS only: other systems have no limits for a process")
    from . import grading
    from .roster import read_roster
    from .sandbox import Limits

    roster = read_roster(options.roster, options.column) if options.roster else None
    if options.command == "mark":
        return grading.mark(options.notebooks, options.out, report=print, roster=roster)
    limits = Limits(options.seconds, options.gigabytes, options.trust)
    return grading.grade(notebooks, options.delivery, options.out, report=print, limits=limits, roster=roster)


if __name__ == "__main__":
    try:
        run(arguments())
    except ValueError as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit("stopped; what is done is kept and written, and the same command goes on from there")
