"""In a notebook, let an exercise that is still open say so in one sentence: import bmlab.teaching.open_exercises"""

import re

from IPython import get_ipython

SENTENCE = "This exercise is still open. The story goes on without it."
_open_cells: list[str] = []  # the sources of the answers that are still to be written


def _say(shell, kind, error, trace, tb_offset=None):
    """Say it where an answer is missing, or a test asks for one that is; any other error is shown as ever."""
    name = getattr(error, "name", None)
    if kind is NotImplementedError:
        _open_cells.append(shell.user_ns.get("In", [""])[-1])
    elif not any(re.search(rf"\b{name}\b", source) for source in _open_cells):
        return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    shell._showtraceback(kind, error, [SENTENCE])  # still an error, or a grader would take the test for passed


if shell := get_ipython():
    shell.set_custom_exc((NotImplementedError, NameError), _say)
