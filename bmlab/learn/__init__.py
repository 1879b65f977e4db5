"""Learning: the two phases, the loop, and the closed form."""
