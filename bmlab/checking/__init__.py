"""Checks of arguments, arrays, memory and time, and the sentences of their refusals."""
