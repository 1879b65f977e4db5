"""Variational inference (notebooks 04 and 04b): stationary points of free energies, without samples.

naive_mean_field, tap_equations     to first and to second order in the couplings
coordinate_descent                  down a free energy, one unit after the other
compiled_loops, compiled_inversion  the sweeps of these and of the next, and selected_inversion, by Numba
belief_propagation                  Bethe: pairs, exact on trees
linear_response                     correlations, from the curvature of any of these
free_bounds                         log Z outside them has been disproved
cooling                             one fixed point followed from hot to cold
"""
