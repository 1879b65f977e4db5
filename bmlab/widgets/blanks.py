"""Blanks in the middle of a story: until a student has written the function, the package's own stands in for it."""

from collections.abc import Callable


def blank(instead: Callable) -> Callable[[Callable], Callable]:
    """Decorate a function that a student is to write: while it is still open, its name means `instead`.

    instead    takes the same arguments and is the package's version, so that the story goes on with the same numbers
    A function is open while the line `raise NotImplementedError(...)` of a handout stands in it; then it is said so.

    >>> from bmlab.widgets import blank
    >>> @blank(bmlab.spins)
    ... def my_spins(bits):
    ...     raise NotImplementedError("write your answer here")
    my_spins is still open: write it above. Until then the package's version stands in for it.
    >>> my_spins([0, 1])
    array([-1.,  1.])
    """

    def chosen(mine: Callable) -> Callable:
        if "NotImplementedError" not in mine.__code__.co_names:
            return mine
        print(f"{mine.__name__} is still open: write it above. Until then the package's version stands in for it.")
        return instead

    return chosen
