"""Blanks and exercises of a notebook: the words of a student's copy on each answer (needs IPython)."""

from .cd_steps import cd_fault
from .fast_matrix import fast_matrix
from .student_copy import blank, progress, variant, watch
from .three_gradients import three_gradients
from .three_samplers import three_samplers

__all__ = ["blank", "cd_fault", "fast_matrix", "progress", "three_gradients", "three_samplers", "variant", "watch"]
