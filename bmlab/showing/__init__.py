"""How objects show themselves in a notebook, and the source behind a name."""
