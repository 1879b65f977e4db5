"""How soon restricted machines of 784 + 500 units learn MNIST: pcd() beside rbms and scikit-learn's BernoulliRBM.

    OPENBLAS_NUM_THREADS=1 python benchmarks/likelihood.py      # pip install rbms

Of the 4,000 images of bmlab.data.mnist() to learn from, 3,500 teach and 500 choose: each learner runs at three or four
settings, and of each length of run only the one that is best on the 500 is judged, by the 1,000 images that nobody has
seen: their mean log-likelihood in nats an image.  Processor seconds of learning alone, one thread.  pcd() makes a run
for each number of epochs, at a rate that falls to 0; the others continue their run.  rbms has batches and
chains of 100 and one sweep a step, as pcd() has; one step by its own defaults (2,000 images, 2,000 chains, 100 sweeps)
is timed alone.  Printed last: how much sooner pcd() reached the final score of each of the others.

log Z of every machine is estimated from both ends: by ais(), from independent units, and by runs that begin at images,
settle in the machine and end at independent units (Burda, Grosse and Salakhutdinov 2015, AISTATS).  Either misses what
its runs do not find, once 51 nats with an error bar of 0.3.  The larger log Z counts, the smaller likelihood of the
two.
"""

import warnings
from importlib.util import find_spec
from itertools import pairwise
from time import process_time

import numpy as np
import scipy
from layers import HIDDEN, ByRbms, from_bits
from sklearn.neural_network import BernoulliRBM
from threadpoolctl import threadpool_limits

import bmlab
from bmlab.checking.arrays import log_2cosh

BATCH = 100


def from_the_images(images, weights, biases, hidden, runs=100, settle=100, steps=500):
    """Return log Z by runs from images to a machine without weights, with the means of the images."""
    rng, first = np.random.default_rng(0), np.arctanh(images.mean(0).clip(-0.98, 0.98))
    v, gain = images[rng.permutation(len(images))[:runs]], np.zeros(runs)
    field, betas = v @ weights + hidden, np.append(np.ones(settle), np.linspace(1, 0, steps))

    def drawn(x):
        return np.where(rng.random(x.shape) < scipy.special.expit(2 * x), 1.0, -1.0)

    for beta, then in pairwise(betas):
        v = drawn(beta * (drawn(beta * field) @ weights.T + biases) + (1 - beta) * first)
        field = v @ weights + hidden
        gain += (then - beta) * (v @ (biases - first)) + (log_2cosh(then * field) - log_2cosh(beta * field)).sum(1)
    end = log_2cosh(first).sum() + len(hidden) * np.log(2)
    return end - scipy.special.logsumexp(gain) + np.log(runs)


def score(model, images):
    """Return the mean log-likelihood of images (N, v) at T = 1, log Z being the larger of the two; and in words."""
    v = images.shape[1]
    parts = model.weights[:v, v:], model.biases[:v], model.biases[v:]
    by_ais = bmlab.ais(model, rng=0, n_chains=100, n_temperatures=500).log_z.value + model.offset
    mean = (images @ parts[1] + log_2cosh(images @ parts[0] + parts[2]).sum(1)).mean()
    both = mean - from_the_images(images, *parts), mean - by_ais
    return min(both), "from the images {:.1f}, by ais {:.1f}".format(*both)


def judged(name, runs, choosing, judging):
    """Print runs (setting, seconds, machine) by the images for choosing; return seconds and mean of the best one."""
    found = []
    for setting, seconds, model in runs:
        mean, said = score(model, choosing)
        print(f"  {name}, {setting}: {mean:.1f} nats ({said}) in {seconds:.2f} s", flush=True)
        found.append((mean, setting, seconds, model))
    _, setting, seconds, model = max(found, key=lambda run: run[0])
    mean, said = score(model, judging)
    print(f"{name}, {setting}: {mean:.1f} nats ({said}) in {seconds:.2f} s, judged", flush=True)
    return seconds, mean


def by_pcd(images, epochs, rate):
    """Learn for some epochs, at a rate that begins there and falls to 0."""
    rng, steps = np.random.default_rng(0), epochs * len(images) // BATCH
    start = bmlab.restricted(
        0.01 * rng.normal(size=(images.shape[1], HIDDEN)),
        np.arctanh(images.mean(0).clip(-0.98, 0.98)),
        np.zeros(HIDDEN),
    )
    begin = process_time()
    model = bmlab.pcd(start, images, rng=rng, steps=steps, rate=np.linspace(rate, 0, steps), batch=BATCH).model
    return process_time() - begin, model


def by_rbms(images, rate, lengths):
    """Yield the processor seconds and the machine after each of some numbers of steps."""
    peer, seconds, done = ByRbms(images, BATCH, 100, 1, rate), 0.0, 0
    peer.steps(2)
    for steps in lengths:
        seconds, done = seconds + peer.steps(steps - done), steps
        yield seconds, peer.machine()


def by_sklearn(images, batch, rate, lengths):
    """Yield the processor seconds and the machine after each of some numbers of epochs."""
    rbm = BernoulliRBM(HIDDEN, learning_rate=rate, batch_size=batch, random_state=0)
    bits, seconds, done, rng = (images + 1) / 2, 0.0, 0, np.random.default_rng(0)
    for epochs in lengths:
        begin = process_time()
        for _ in range(epochs - done):
            for rows in np.array_split(rng.permutation(len(bits)), len(bits) // batch):
                rbm.partial_fit(bits[rows])
        seconds, done = seconds + process_time() - begin, epochs
        yield seconds, from_bits(rbm.components_.T, rbm.intercept_visible_, rbm.intercept_hidden_)


def rivals(images):
    """Yield the name of each run of another learner, and its score at each setting, length by length."""
    if find_spec("rbms"):
        settings = {f"rate {rate:g}": by_rbms(images, rate, (200, 600, 1800)) for rate in (0.2, 1.0, 3.0)}
        yield from runs_by_length("rbms, {} steps", (200, 600, 1800), settings)
    settings = {
        f"batch {batch}, rate {rate:g}": by_sklearn(images, batch, rate, (1, 4))
        for batch, rate in ((10, 0.1), (10, 0.03), (10, 0.01), (100, 0.1))
    }
    yield from runs_by_length("BernoulliRBM, {} epochs", (1, 4), settings)


def runs_by_length(name, lengths, settings):
    """Yield a name and the runs of all settings for each length."""
    for length in lengths:
        yield name.format(length), [(setting, *next(found)) for setting, found in settings.items()]


def main():
    """Print the likelihoods and times."""
    warnings.simplefilter("ignore", bmlab.NotConverged)
    digits = bmlab.data.mnist()
    choosing, images = digits.train[::8], np.delete(digits.train, np.s_[::8], axis=0)
    by_pcd(images[:200], 1, 0.02)
    ours = []
    for epochs in (1, 2, 3, 5, 10, 20):
        runs = [(f"rate {rate:g}", *by_pcd(images, epochs, rate)) for rate in (0.01, 0.02, 0.03)]
        ours.append(judged(f"pcd, {epochs} epochs", runs, choosing, digits.test))
    others = {name: judged(name, runs, choosing, digits.test) for name, runs in rivals(images)}
    for name, (seconds, mean) in others.items():
        took = min((own for own, reached in ours if reached >= mean), default=np.nan)
        sooner = f"pcd is there in {took:.2f} s, {seconds / took:.1f} times sooner"
        print(f"{name}: {mean:.1f} nats in {seconds:.2f} s; {sooner}")
    if find_spec("rbms"):
        print(f"one step of rbms by its defaults: {ByRbms(images, 2000, 2000, 100, 0.01).steps(1):.1f} s")


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
