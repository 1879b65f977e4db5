"""Blanks and exercises of a notebook: what a student's copy says of each answer (needs IPython)."""

from .student_copy import blank, progress, variant, watch

__all__ = ["blank", "progress", "variant", "watch"]
