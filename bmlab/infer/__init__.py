"""Inference: methods that take a machine and return an Estimate.

exact        02  sums over all 2^n states, by the cheapest algorithm
sampling     03  Markov chains: moments from averages, log Z from annealing and exchange
variational  04  free energies of means: mean field, TAP, Bethe
bounds       04b proven lower and upper bounds on log Z
choosing     05b auto, which chooses one of them
"""
