"""Exact answers (notebook 02): sums over all 2^n states, by the cheapest road that the couplings allow.

planning                what each road costs
small_tables, matrix_products, cutset_conditioning, elimination      the roads
enumeration             exact(): each part of the machine by its road
exact_sampling          perfect samples, probabilities, ground states
"""
