"""One file per method; each is a callable  model -> Estimate."""
