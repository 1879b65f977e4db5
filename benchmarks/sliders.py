"""The cost of a slider's step: processor milliseconds of each explore() of the notebooks, at both densities.

    OPENBLAS_NUM_THREADS=1 python benchmarks/sliders.py [notebook ...]      say 03, or nothing for all (four minutes)

Every code cell is run, then each explore() is asked for twenty of its stops, drawn at random: the median and the most,
of draw and picture together: the plain one that answers a step, and the one of double density that a dense display gets
when the slider rests.
"""

import os
import sys
import time
import warnings
from contextlib import redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path

os.environ["MPLBACKEND"] = "agg"

import nbformat
import numpy as np

from bmlab import widgets

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
WARM, STEPS = 3, 20  # the first step lays the figure out


def explorers(path):
    """Run a notebook; return the arguments of its explore() calls."""
    made, explore = [], widgets.explore
    widgets.explore = lambda *draw, **controls: made.append(explore(*draw, **controls)) or made[-1]
    names = {"__name__": "__main__"}
    with redirect_stdout(StringIO()), warnings.catch_warnings(action="ignore"):
        for cell in nbformat.read(path, 4).cells:
            if cell.cell_type == "code":
                exec(cell.source, names)
    widgets.explore = explore
    return made


def milliseconds(view, dense, rng):
    """Processor time of steps to stops drawn at random."""
    stops = list(product(*(range(len(values)) for values in view._stops.values())))
    spent = []
    for k in rng.integers(len(stops), size=WARM + STEPS):
        begun = time.process_time()
        view._answer(list(stops[k]), dense)
        spent.append(1000 * (time.process_time() - begun))
    return spent[WARM:]


def main(prefixes):
    os.chdir(NOTEBOOKS)
    print(f"{'ms a step':<52}{'plain: median, most':>22}{'dense: median, most':>22}")
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if prefixes and not path.name.startswith(tuple(prefixes)):
            continue
        for view in explorers(path):
            columns = [milliseconds(view, dense, np.random.default_rng(0)) for dense in (False, True)]
            cells = "".join(f"{np.median(ms):>14.0f}{max(ms):>8.0f}" for ms in columns)
            print(f"{path.stem[:20] + ': ' + repr(view)[8:-1]:<52.50}{cells}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
