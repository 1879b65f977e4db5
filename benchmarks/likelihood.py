"""How soon restricted machines of 784 + 500 units learn MNIST: pcd() beside rbms and scikit-learn's BernoulliRBM.

    OPENBLAS_NUM_THREADS=1 python benchmarks/likelihood.py      # pip install rbms

The 4,000 images of bmlab.data.mnist() to learn from, 1,000 to judge by: their mean log-likelihood in nats an image,
with log Z of every machine by the same ais() (100 runs of 200 temperatures).  Processor seconds of learning alone, one
thread.  pcd() makes a run for each number of epochs, at a rate that falls to 0; the others go on from where they were,
at three settings each.  rbms has batches and chains of 100 and one sweep a step, as pcd() has; one step by its own
defaults (2,000 images, 2,000 chains, 100 sweeps) is timed alone.
"""

import warnings
from importlib.util import find_spec
from time import process_time

import numpy as np
from layers import HIDDEN, ByRbms, from_bits
from sklearn.neural_network import BernoulliRBM
from threadpoolctl import threadpool_limits

import bmlab

BATCH, RATE = 100, 0.02  # of the first step of pcd()


def score(model, images):
    """Return the mean log-likelihood of images (N, v) at T = 1, hidden units summed over, and the error of log Z."""
    v = images.shape[1]
    log_z = bmlab.ais(model, rng=0, n_chains=100, n_temperatures=200).log_z
    fields = images @ model.weights[:v, v:] + model.biases[v:]
    found = images @ model.biases[:v] + np.logaddexp(fields, -fields).sum(1) - model.offset - log_z.value
    return found.mean(), log_z.stderr


def say(name, seconds, model, images):
    """Print one line."""
    mean, error = score(model, images)
    print(f"{name}: {mean:.1f} nats in {seconds:.2f} s (log Z +- {error:.1f})", flush=True)


def by_pcd(images, epochs):
    """Learn for some epochs."""
    rng, steps = np.random.default_rng(0), epochs * len(images) // BATCH
    start = bmlab.restricted(
        0.01 * rng.normal(size=(images.shape[1], HIDDEN)),
        np.arctanh(images.mean(0).clip(-0.98, 0.98)),
        np.zeros(HIDDEN),
    )
    begin = process_time()
    model = bmlab.pcd(start, images, rng=rng, steps=steps, rate=np.linspace(RATE, 0, steps), batch=BATCH).model
    return process_time() - begin, model


def by_sklearn(images, batch, rate, epochs):
    """Yield the processor seconds and the machine after each of some numbers of epochs."""
    rbm, bits, seconds, done = (
        BernoulliRBM(HIDDEN, learning_rate=rate, batch_size=batch, random_state=0),
        (images + 1) / 2,
        0,
        0,
    )
    rng = np.random.default_rng(0)
    for upto in epochs:
        begin = process_time()
        for _ in range(upto - done):
            for rows in np.array_split(rng.permutation(len(bits)), len(bits) // batch):
                rbm.partial_fit(bits[rows])
        seconds, done = seconds + process_time() - begin, upto
        yield seconds, from_bits(rbm.components_.T, rbm.intercept_visible_, rbm.intercept_hidden_)


def main():
    """Print the likelihoods and times."""
    warnings.simplefilter("ignore", bmlab.NotConverged)
    digits = bmlab.data.mnist()
    by_pcd(digits.train[:200], 1)
    for epochs in (1, 2, 5, 10):
        say(f"pcd, {epochs} epochs", *by_pcd(digits.train, epochs), digits.test)
    for rate in (0.2, 1.0, 3.0) if find_spec("rbms") else ():
        peer, seconds, done = ByRbms(digits.train, BATCH, 100, 1, rate), 0.0, 0
        peer.steps(2)
        for steps in (200, 600):
            seconds, done = seconds + peer.steps(steps - done), steps
            say(f"rbms, rate {rate:g}, {steps} steps", seconds, peer.machine(), digits.test)
    for batch, rate in ((10, 0.1), (10, 0.01), (100, 0.1)):
        for epochs, found in zip((1, 4), by_sklearn(digits.train, batch, rate, (1, 4)), strict=True):
            say(f"BernoulliRBM, batch {batch}, rate {rate:g}, {epochs} epochs", *found, digits.test)
    if find_spec("rbms"):
        print(f"one step of rbms by its defaults: {ByRbms(digits.train, 2000, 2000, 100, 0.01).steps(1):.1f} s")


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
