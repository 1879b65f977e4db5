"""Free energies (notebook 04): the fixed points of theories that need no samples.

naive_mean_field, tap_equations, coordinate_descent     products, their echoes, and the descent that finds both
belief_propagation                                      Bethe: pairs, exact on trees
linear_response                                         correlations of a theory that has none
cooling                                                 one fixed point followed from hot to cold
"""
