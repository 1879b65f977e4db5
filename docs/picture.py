"""Draw the picture at the top of the README: `python docs/picture.py` writes docs/picture.png."""

from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import bmlab
from bmlab import plot

PENS = range(1, 14, 2)  # thresholds: each digit is learnt with seven pens, thick to thin
UPPER = np.arange(32)  # the upper four of eight rows of pixels


def learn(digit, rng):
    """Learn one digit by persistent chains, as in notebook 09; average the last half of the way."""
    pens = [bmlab.data.digits(threshold) for threshold in PENS]
    images = np.vstack([pen.train[pen.train_labels == digit] for pen in pens])
    images = np.where(rng.random(images.shape) < 0.02, -images, images)
    start = bmlab.BoltzmannMachine(np.zeros((64, 64)), np.arctanh(images.mean(0)))
    chains = partial(bmlab.gibbs, rng=rng, n_chains=100, burn_in=0, n_sweeps=1)
    steps = list(bmlab.ascend(start, images, chains, rate=np.linspace(0.05, 0, 200)))
    late = [step.model for step in steps[100:]]
    return bmlab.BoltzmannMachine(np.mean([m.weights for m in late], 0), np.mean([m.biases for m in late], 0))


def draw_completions(ax, rng, shown=(0, 2, 3, 5, 6)):
    """Five test digits: whole, their upper halves, and what the machine of the digit makes of these."""
    data = bmlab.data.digits()
    whole = np.array([data.test[data.test_labels == digit][4] for digit in shown])
    half = np.hstack([whole[:, UPPER], np.full((len(whole), 32), -0.75)])
    clamped = [learn(k, rng).clamp(UPPER, v[UPPER]) for k, v in zip(shown, whole, strict=True)]
    lower = [bmlab.mean_field(machine).mean for machine in clamped]
    plot.images(np.vstack([whole, half, np.hstack([whole[:, UPPER], lower])]), ax, columns=len(shown))
    for row, name in enumerate(["written", "given", "completed"]):
        ax.text(-1.5, 9 * row + 3.5, name, ha="right", va="center")
    ax.set_title("Completing digits it has not seen")


def draw_zoo(ax):
    """The couplings between 15 properties of 101 animals."""
    zoo = bmlab.data.zoo()
    blank = bmlab.BoltzmannMachine(np.zeros((15, 15)), np.zeros(15))
    machine = bmlab.fit(blank, zoo.data, steps=500, rate=0.05, penalty=0.01).model
    plot.weights(machine.weights, ax, labels=zoo.properties)
    ax.tick_params(labelsize=9, length=2)
    ax.set_title("Couplings learnt from 101 animals")


def draw_methods(ax, rng):
    """Two methods against the exact answer, on the ten frustrated units of the course."""
    machine = bmlab.medium().at(2)
    truth = bmlab.exact(machine)
    for answer in bmlab.mean_field(machine), bmlab.gibbs(machine, rng=rng):
        plot.moments(truth, answer, ax)
    keys = [ax.plot([], [], "s", color=plot.COLOURS[name], label=name)[0] for name in ("gibbs", "mean field")]
    ax.legend(handles=keys, frameon=False, loc="lower right", handletextpad=0)
    ax.set(title="Checked by exact sums", xlabel="exact moments", ylabel="estimates")


if __name__ == "__main__":
    rng = np.random.default_rng(8)
    plt.rcParams["font.size"] = 11
    fig, axes = plt.subplots(1, 3, figsize=(12.7, 3.75), width_ratios=[1.75, 1.2, 1], layout="constrained")
    draw_completions(axes[0], rng)
    draw_zoo(axes[1])
    draw_methods(axes[2], rng)
    for ax in axes:
        ax.set_anchor("N")  # titles on one line
    fig.savefig(Path(__file__).with_suffix(".png"), dpi=110, bbox_inches="tight", pad_inches=0.05)
