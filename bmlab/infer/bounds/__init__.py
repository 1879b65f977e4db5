"""Proven lower and upper bounds on log Z (notebook 04b).

structured_mean_field                   lower bound, by the best tree
tree_reweighting, spanning_trees        upper bound, by mixtures of trees
gaussian_integral                       upper bound, by one integral
bracketing                              bracket, the tightest of these
"""
