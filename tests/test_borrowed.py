"""Private parts of other libraries that the package uses: a test that fails after an upgrade says which one is gone."""

import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib.metadata import version
from threading import current_thread

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from bmlab.exercises.student_copy import show_sentence
from bmlab.plot.labels import arrow_of
from bmlab.running.parallel import kept_by

PYTHON = f"concurrent.futures of Python {sys.version.partition(' ')[0]}"


def test_a_pool_of_threads_keeps_them_where_they_are_looked_for():
    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(current_thread).result()
        assert set(kept_by(pool)[0]) == {worker}, f"{PYTHON}: in a job that names its own pool exact() waits forever"


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_a_pool_keeps_the_number_of_its_workers_where_it_is_looked_for(kind):
    with kind(3) as pool:
        assert kept_by(pool)[1] == 3, f"{PYTHON}: a pool gets as many tasks at a time as this machine has cores"


def test_ipython_shows_a_sentence_in_the_place_of_a_traceback(capsys):
    shell, sentence = InteractiveShell(), "m is twice what it should be"

    def handler(shell, kind, error, trace, tb_offset=None):
        show_sentence(shell, kind, error, trace, sentence)

    shell.set_custom_exc((AssertionError,), handler)
    result = shell.run_cell("assert False")
    told = f"IPython {version('ipython')}: below a wrong answer stands a traceback"
    assert capsys.readouterr().out.strip() == sentence, told
    assert isinstance(result.error_in_exec, AssertionError)


def test_matplotlib_keeps_the_arrow_of_a_text_where_it_is_looked_for():
    ax = Figure().subplots()
    words, arrow = ax.annotate("words", (0, 0)), ax.annotate("", (0, 0), (1, 1), arrowprops={"arrowstyle": "->"})
    told = f"Matplotlib {version('matplotlib')}: labels are written over arrows"
    assert arrow_of(words) is None and isinstance(arrow_of(arrow), FancyArrowPatch), told


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (7, 8), (40, 33)])
def test_rows_begin_on_cache_lines(shape):
    aligned = pytest.importorskip("bmlab.infer.sampling.numba_engine").aligned
    for _ in range(5):  # the memory of each begins elsewhere
        rows = aligned(shape)
        told = f"NumPy {version('numpy')}: chains take up to 10 % longer"
        assert {row.ctypes.data % 64 for row in rows} == {0} and rows.shape[1] >= shape[1], told
        assert rows.flags.c_contiguous and not np.any(rows)
