"""The random numbers of the chains: streams that count, so that number k of a stream is known without the ones before.

    z_k = mix(seed + k * 0x9E3779B97F4A7C15)        (SplitMix64: Steele, Lea and Flood 2014, OOPSLA)

NumPy and compiled loops read the same functions, on arrays or on single numbers, and so walk alike to the bit.
"""

import numpy as np


def stream(seed, place):
    """Return number `place` of the stream SplitMix64 that starts at a seed; all are uint64.

    Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators, OOPSLA.
    """
    z = seed + place * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def fine_digits(word):
    """Return the digits of u below its first 16 bits, in (0, 1), from a uint64."""
    return ((word >> np.uint64(11)) + 0.5) * 2.0**-53
