"""Numbers of one's own for an exercise: which of its equally hard variants a student number draws."""

from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

Numbers = TypeVar("Numbers")


def variant(student: str, variants: Sequence[Numbers]) -> Numbers:
    """Return one of the variants: the same for the same student number, on every machine and in every year.

    student    the number or name as typed, a text; spaces around it do not count
    variants   what an exercise can ask with, each as hard as the others; neighbours in a class draw at random from it
    Raises TypeError where `student` is no text, as 0012 is no number in Python.
    """
    if not isinstance(student, str):
        raise TypeError(f'student is {student!r}; put your number between quotes: student = "{student}"')
    digest = sha256(f"{student.strip()} {list(variants)!r}".encode()).digest()
    return variants[int.from_bytes(digest) % len(variants)]
