"""Exact inference (notebook 02): sums over all 2^n states, by the cheapest algorithm that the couplings allow.

planning                the cost of each algorithm
small_tables, matrix_products, lowest_states, cutset_conditioning, elimination      the algorithms
faces                   shared by two of them
dispatch                exact(): each component of the machine by its algorithm
exact_sampling          perfect samples, probabilities, ground states
"""
