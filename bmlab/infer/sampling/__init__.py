"""Chains (notebooks 03, 03b and 03c): answers from states that were visited.

random_stream, chains                    random numbers, and chains side by side
numpy_engine, numba_engine               the sweeps that NumPy or Numba make of them
gibbs, averages, diagnostics             averages over chains, their errors, and whether they agree
annealing, tempering                     cooling, and exchange between temperatures
annealed_importance, visited             log Z from weights, and from the distinct states met
"""
