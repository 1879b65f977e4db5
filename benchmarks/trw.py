"""Processor time of trw() to a gap of 0.01 on dense machines of 36 units, and the gap that is left."""

from time import process_time

import numpy as np

import bmlab

N = 36
CASES = (4.0, 0.1), (2.0, 0.1), (1.0, 0.1), (1.0, 0.0), (0.5, 0.3), (0.3, 0.1), (0.1, 0.1)  # temperature, biases


def glass(seed: int, temperature: float, scale: float) -> bmlab.BoltzmannMachine:
    """Return a Sherrington-Kirkpatrick machine with random biases of this scale."""
    rng = np.random.default_rng(seed)
    weights = bmlab.sherrington_kirkpatrick(N, rng=rng).weights
    return bmlab.BoltzmannMachine(weights, scale * rng.normal(size=N), temperature)


if __name__ == "__main__":
    for temperature, scale in CASES:
        for seed in range(3):
            begin = process_time()
            found = bmlab.trw(glass(seed, temperature, scale))
            print(
                f"T = {temperature:<4} biases {scale:<4} seed {seed}: at most {found.log_z.upper:8.3f}, "
                f"gap {found.info['gap']:.4f}, {len(found.info['bounds']):3} steps, {process_time() - begin:.2f} s"
            )
