"""The calls that growth.py times, at sizes that take no time: `make bench` stops if a script is broken."""

import subprocess
import sys
from pathlib import Path

import growth
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")  # they are timed, and their answers not judged

CHOOSING = Path(__file__).resolve().parents[1] / "benchmarks" / "choosing.py"


@pytest.mark.parametrize("of", [case[0] for case in growth.CASES.values()], ids=growth.CASES)
def test_growth_times_what_it_names(of):
    times, summary = growth.grown((of, (4, 8), (8, 16), (3, 6)))
    assert len(times) == 2 and summary.count("N^") == summary.count("steps^") == 1 and "MiB" in summary


def test_the_report_card_ends_without_an_error(tmp_path):
    """A pool of workers that is not closed prints a warning at its end."""
    few = ["--kinds", "ring", "--machines", "1", "--sweeps", "10", "--csv", str(tmp_path / "card.csv")]
    done = subprocess.run([sys.executable, CHOOSING, *few], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "ring" in done.stdout
    assert len((tmp_path / "card.csv").read_text().splitlines()) == 3
