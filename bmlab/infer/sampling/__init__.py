"""Sampling (notebooks 03, 03b and 03c): Markov chain Monte Carlo.

chains                                   many chains in parallel
numpy_engine, numba_engine               their sweeps, by NumPy or Numba, and random numbers
gibbs, averages, diagnostics             averages over chains, their errors, and whether the chains agree
annealing, tempering                     cooling, and exchange between temperatures
annealed_importance, visited             log Z from weights, and from the distinct states visited
"""
