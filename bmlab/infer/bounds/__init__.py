"""Proof (notebook 04b): intervals that log Z cannot leave.

structured_mean_field                   from below, by the best tree
tree_reweighting, spanning_trees        from above, by mixtures of trees
gaussian_integral                       from above, by one integral
bracketing                              bracket, the tightest of these
"""
