"""Variational inference (notebooks 04 and 04b): stationary points of free energies, without samples.

naive_mean_field, tap_equations     to first and to second order in the couplings
coordinate_descent                  minimises a free energy, one unit after the other
compiled_loops, compiled_inversion  sweeps of all these methods, and selected_inversion, compiled by Numba
belief_propagation                  Bethe: pairs, exact on trees
linear_response                     correlations, from the curvature of any of these free energies
free_bounds                         cheap bounds that refute a wrong log Z
cooling                             follows a fixed point from hot to cold
"""
