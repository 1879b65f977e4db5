"""The cost of parts beside the whole, and its consequence for machines that one computer does not hold.

    python benchmarks/scale.py              the cost of parts, and the rest on paper (two minutes)
    python benchmarks/scale.py --units 44   log Z of 44 units on two workers of Dask, of which one is killed

Processor seconds are compared, in one process and by one thread: they depend little on other work of the machine.
"""

import argparse
import os
import pickle
import signal
import tempfile
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from threading import Timer
from time import perf_counter, process_time

import dask
import distributed
import numpy as np

import bmlab
from bmlab.infer.exact.matrix_products import conditioned_units, sum_by_products
from bmlab.running.parallel import cores, map_executor
from bmlab.running.threads import one_thread_only

CORES = 16, 256, 4096
TASKS = 2000  # by which the scheduler's rate is measured
KILLED = 60  # seconds after the beginning


class Listening:
    """An executor that does each part at once, and counts the parts and their bytes, and those of the task."""

    _max_workers = 1

    def __init__(self):
        self.parts, self.part, self.task = 0, 0, 0

    def submit(self, task, part):
        future, self.parts = Future(), self.parts + 1
        self.part, self.task = max(self.part, len(pickle.dumps(part))), max(self.task, len(pickle.dumps(task)))
        future.set_result(task(part))
        return future


def glass(n):
    return bmlab.sherrington_kirkpatrick(n, rng=np.random.default_rng(n))


def spent(call):
    """Processor seconds of a call."""
    begin = process_time()
    call()
    return process_time() - begin


def beside_the_whole(name, whole, cut):
    """Print the cost of a question in parts, beside the whole; the faster of two each."""
    engine = Listening()
    with one_thread_only():
        alone = min(spent(whole) for _ in range(2))
    with bmlab.workers(engine):
        apart = min(spent(cut) for _ in range(2))
    engine.parts //= 2
    print(
        f"{name}: {alone:.2f} s as a whole, {apart:.2f} s in {engine.parts} parts ({apart / alone:.2f}), "
        f"at most {engine.part / 1000:.1f} kB a part, and for each {engine.task / 1000:.1f} kB"
    )
    return apart / engine.parts


def two_workers():
    """Return two processes of Dask on this machine, whose memory is not trimmed while they sample."""
    pages = {"MALLOC_TRIM_THRESHOLD_": 2**27, "MALLOC_MMAP_THRESHOLD_": 2**25}
    with dask.config.set({"distributed.nanny.pre-spawn-environ": pages}):
        return distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)


def by_the_scheduler():
    """Print, and return, the seconds that Dask's scheduler takes for a part that does nothing."""
    with two_workers() as cluster, distributed.Client(cluster) as client, bmlab.workers(client.get_executor()):
        list(map_executor(abs, range(100)))
        begin = perf_counter()
        list(map_executor(abs, range(TASKS)))
        seconds = (perf_counter() - begin) / TASKS
    print(f"Dask's scheduler: {1 / seconds:,.0f} parts a second, here beside two workers on {cores()} cores")
    return seconds


def in_earnest(n):
    """Sum a machine without biases on two workers, kill one, and compare the time with its price."""
    model = bmlab.BoltzmannMachine(glass(n).weights, np.zeros(n))
    with two_workers() as cluster, distributed.Client(cluster) as client, bmlab.workers(client.get_executor()):
        (pid, *_) = client.run(os.getpid).values()
        killer = Timer(KILLED, os.kill, (pid, signal.SIGKILL))
        price = bmlab.exact_plan(model, want="log_z")
        print(f"{n} units: foretold {price.seconds:.0f} s on two workers, {price.core_seconds:.0f} core seconds")
        begin = perf_counter()
        killer.start()
        log_z = bmlab.exact(model, max_seconds=np.inf, want="log_z").log_z.value
        seconds = perf_counter() - begin
        killer.cancel()
        print(f"log Z = {log_z:.10f} after {seconds:.0f} s ({seconds / price.seconds:.2f} of the price)")
        print(f"killed: {pid} after {KILLED} s; workers at the end: {[*client.run(os.getpid).values()]}")
    sampled = bmlab.ais(model, rng=0).log_z
    print(f"ais() says {sampled.value:.4f} +- {sampled.stderr:.4f}")


def on_paper(name, parts, seconds, overhead):
    """Print hours on some numbers of cores; the scheduler hands out one part after the other."""
    hours = [max(-(-parts // cores) * seconds, parts * overhead) / 3600 for cores in CORES]
    limits = ["the scheduler" if parts * overhead > -(-parts // cores) * seconds else "the parts" for cores in CORES]
    told = ", ".join(f"{hour:.3g} h on {cores}" for hour, cores in zip(hours, CORES, strict=True))
    print(f"  {name}: {parts:,} parts of {seconds:.3g} s, {parts * seconds / 3600:.3g} core hours; {told} cores")
    print(f"    what limits: {', '.join(limits)}")


def rows_of_a_file(count=1_000_000, width=100):
    """Print how fast a file of int8 is summed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (count, width)))
        with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
            seconds, peak = fresh.submit(read, path).result()
    rate = count * width / 1e9 / seconds
    print(
        f"moments, {count:,} x {width} int8: {rate:.2f} GB a processor second, {peak:.0f} MB beyond the start at most"
    )


def read(path):
    """Processor seconds of moments(), and by how many MB the peak of this process has grown."""
    before = getrusage(RUSAGE_SELF).ru_maxrss
    seconds = spent(lambda: bmlab.moments(np.load(path, mmap_mode="r")))
    return seconds, (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1000


def main():
    """Measure parts, and write the rest on paper; or run one sum in earnest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int)
    options = parser.parse_args()
    if options.units:
        in_earnest(options.units)
        return
    large = glass(34)
    part = beside_the_whole("exact, 34 units", partial(sum_by_products, large), partial(bmlab.exact, large))
    rows_of_a_file()
    overhead = by_the_scheduler()
    print("On paper, from these parts:")
    on_paper("46 units", 2**13, part, overhead)
    for n in (48, 50):
        on_paper(f"{n} units", 2 ** conditioned_units(n), 8 * part, overhead)


if __name__ == "__main__":
    main()
