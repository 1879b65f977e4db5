"""Bounds on log Z (notebook 04b): proven, from both sides.

structured_mean_field                   from below, by the best tree
tree_reweighting, spanning_trees        from above, by mixtures of trees
gaussian_integral                       from above, by one integral
bracketing                              bracket, the tightest of these
"""
