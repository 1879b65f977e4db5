"""Chains (notebooks 03, 03b and 03c): answers from states that were visited.

random_stream, chains                            random numbers, and chains side by side
numpy_engine, numba_engine, kernels              the sweeps that NumPy or Numba make of them
whole_numbers, narrow_engine                     full machines in single precision, and what it leaves open
lattice_kernel                                   a faster one where four neighbours pull alike
kept_fields, dense_kernel                        fields that flips change, and a faster loop in single precision
gibbs_sampling, averages, diagnostics            averages over chains, their errors, and whether they agree
stretches                                        many chains, on workers
simulated_annealing                              cooling
temperature_ladders, replica_exchange            exchange between temperatures
annealed_importance, visited_states              log Z from weights, and from the distinct states met
"""
