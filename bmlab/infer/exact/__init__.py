"""Exact inference (notebook 02): sums over all 2^n states, by the cheapest algorithm that the couplings allow.

planning                what each algorithm costs
small_tables, matrix_products, lowest_states, cutset_conditioning, elimination      the algorithms
faces                   what two of them have in common
dispatch                exact(): each part of the machine by its algorithm
exact_sampling          perfect samples, probabilities, ground states
"""
