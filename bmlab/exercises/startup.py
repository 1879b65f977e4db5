"""The first file that a kernel of the course runs: python -m bmlab names it in PYTHONSTARTUP."""

if "get_ipython" in globals():  # a notebook's kernel, not a terminal's Python
    from bmlab.exercises import unmade as _unmade

    get_ipython().set_custom_exc((NameError,), _unmade.say)  # noqa: F821 # pyright: ignore
    del _unmade
