"""Inference: a machine in, an Estimate out.

exact        02  sums over all 2^n states, by the cheapest algorithm
sampling     03  chains: moments from visits, log Z from annealing and exchange
variational  04  free energies of means: mean field, TAP, Bethe
bounds       04b what is proven of log Z, from both sides
choosing     05b auto, which of them to take
"""
