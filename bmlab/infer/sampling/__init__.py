"""Sampling (notebooks 03, 03b and 03c): Markov chain Monte Carlo.

chains                                   chains side by side
numpy_engine, numba_engine               the sweeps that NumPy or Numba make of them, and random numbers
gibbs, averages, diagnostics             averages over chains, their errors, and whether they agree
annealing, tempering                     cooling, and exchange between temperatures
annealed_importance, visited             log Z from weights, and from the distinct states met
"""
