"""Blanks and exercises of a notebook: the words of a student's copy on each answer (needs IPython)."""

from .student_copy import blank, progress, variant, watch
from .three_samplers import three_samplers

__all__ = ["blank", "progress", "three_samplers", "variant", "watch"]
