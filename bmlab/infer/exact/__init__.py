"""Exact answers (notebook 02): sums over all 2^n states, by the cheapest road that the couplings allow.

planning                the roads, and what each costs
small_tables, matrix_products, cutset_conditioning, elimination, tree_contraction      the roads
enumeration             exact(): each part of the machine by its road
exact_sampling          perfect samples, probabilities, ground states
"""
