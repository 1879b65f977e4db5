"""workers(): the same bits by any executor, from parts that follow from the question; exact sums in parts."""

import os
import pickle
import random
import signal
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import islice
from threading import get_ident
from time import sleep

import numpy as np
import pytest
from scipy import sparse
from test_contract import machine
from threadpoolctl import threadpool_info, threadpool_limits

import bmlab
from bmlab import plain
from bmlab.infer.exact import matrix_products
from bmlab.running import parallel
from bmlab.running.parallel import SingleThreaded, map_executor, map_threads, worker_count
from bmlab.running.threads import all_threads


def drawn(n, biases=True, temperature=1.0):
    return replace(machine(n, 0, temperature=temperature), biases=np.linspace(-1, 2, n) * biases)


class Hostile:
    """An executor that does every part twice, in another order, each on a pickled copy of the task."""

    def __init__(self):
        self.waiting, self.largest = [], 0

    def submit(self, task, part):
        future, packed = Future(), pickle.dumps((task, part))
        self.largest = max(self.largest, len(packed))
        self.waiting.append((future, packed))
        future.result = partial(self.result, future)
        return future

    def result(self, future):
        random.Random(0).shuffle(self.waiting)
        while self.waiting and not future.done():
            other, packed = self.waiting.pop()
            first, again = (call(part) for call, part in (pickle.loads(packed), pickle.loads(packed)))
            assert pickle.dumps(first) == pickle.dumps(again), "a part is no pure function of its arguments"
            other.set_result(pickle.loads(pickle.dumps(again)))
        return Future.result(future)


def numbers(answer):
    """All numbers of an answer, to the bit."""
    if isinstance(answer, bmlab.Estimate):
        stderr = [answer.log_z.stderr, answer.mean_stderr, answer.corr_stderr]
        return numbers(
            [answer.mean, answer.corr, answer.log_z, *stderr, answer.state, answer.draws, len(answer.message)]
        )
    if sparse.issparse(answer):
        return numbers(answer.toarray())
    if isinstance(answer, (list, tuple)):
        return [x for part in answer for x in numbers(part)]
    return [np.asarray(answer).tobytes()]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts of few units, so that small questions come in many."""
    monkeypatch.setattr(matrix_products, "SLICE_UNITS", 14)


QUESTIONS = {
    "exact": lambda: bmlab.exact(drawn(18)),
    "exact, without biases": lambda: bmlab.exact(drawn(17, biases=False)),
    "exact, log Z": lambda: bmlab.exact(drawn(18), want="log_z"),
    "sample": lambda: bmlab.sample(drawn(17), 20, rng=np.random.default_rng(0)),
}
# 2^(units - SLICE_UNITS), half of them the same without biases
PARTS = {"exact": 16, "exact, without biases": 4, "exact, log Z": 16, "sample": 8}


def counting(executor):
    """Count in `given` the parts that an executor is handed, but for the first job, which counts its workers."""
    submit, executor.given = executor.submit, -1

    def counted(task, part):
        executor.given += 1
        return submit(task, part)

    executor.submit = counted
    return executor


# The laws


@pytest.mark.parametrize("name", QUESTIONS)
def test_parts_that_are_pickled_done_twice_and_out_of_order_give_the_same_bits(name):
    here, hostile = numbers(QUESTIONS[name]()), counting(Hostile())
    with bmlab.workers(hostile):
        assert numbers(QUESTIONS[name]()) == here
    assert hostile.given == PARTS[name] and hostile.largest < 100_000


def test_any_number_of_threads_gives_the_same_bits():
    here = numbers(QUESTIONS["exact"]())
    for count in (1, 2, 7):
        with ThreadPoolExecutor(count) as pool, bmlab.workers(counting(pool)):
            assert worker_count() == count and numbers(QUESTIONS["exact"]()) == here
        assert pool.given == PARTS["exact"]
    assert parallel._executor.get() is None


def test_a_part_that_fails_is_named():
    for engine in (nullcontext(), bmlab.workers(Recorder())):
        with engine, pytest.raises(ZeroDivisionError) as failed:
            list(map_executor(partial(divmod, 1), [2, 1, 0]))
        assert failed.value.__notes__ == ["This was task 3 of 3."]


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("temperature", [0.002, 0.05, 1.0])
def test_parts_agree_with_all_states(biases, temperature):
    model = drawn(16, biases, temperature)
    answer, true, size = bmlab.exact(model), plain.brute_force(model), np.abs(model.energy(bmlab.states(16))).max()
    assert bmlab.exact_plan(model).components[0].slices == (4 if biases else 2)
    assert abs(answer.log_z - true.log_z) < 1e-14 * size / temperature + 1e-12
    assert np.abs(answer.mean - true.mean).max() < 1e-13 * size / temperature + 1e-12
    assert np.abs(answer.corr - true.corr).max() < 1e-13 * size / temperature + 1e-12


def double(x):
    return 2 * x


def nested(k):
    return list(map_executor(identify, range(3))), [get_ident(), worker_count()]


def identify(k):
    with all_threads():
        counts = {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
    return [get_ident(), *counts]


def test_a_part_of_a_part_stays_where_it_is_and_has_one_thread():
    with threadpool_limits(3, user_api="blas"), bmlab.workers(Hostile()):
        for answers, here_alone in map_executor(nested, range(2)):
            assert answers == [here_alone] * 3 and here_alone == [get_ident(), 1]


def asked_inside(pool, seen):
    """A job of one's own that hands parts to the pool it runs in."""
    with bmlab.workers(pool):
        seen.append(list(map_executor(double, range(5))))


def test_a_job_that_asks_its_own_pool_does_the_parts_itself():
    seen = []
    with ThreadPoolExecutor(1) as pool, bmlab.workers(pool):
        pool.submit(asked_inside, pool, seen).result()
        list(map_executor(partial(asked_inside, pool), [seen]))
    assert seen == [[0, 2, 4, 6, 8]] * 2


def test_an_executor_that_is_dead_is_told_at_once():
    """Also if the answer would need none of it."""
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(RuntimeError, match="shutdown"), bmlab.workers(pool):
        bmlab.exact(bmlab.toy())


class Recorder:
    """An executor that runs nothing before result(), and records the cancelled tasks."""

    def __init__(self):
        self.given = []

    def submit(self, task, part):
        self.given.append(Waiting(task, part))
        return self.given[-1]


class Waiting:
    def __init__(self, task, part):
        self.task, self.part, self.state = task, part, "waiting"

    def result(self):
        self.state = "done"
        return self.task(self.part)

    def cancel(self):
        self.state = "cancelled"


def leave_by_break():
    list(islice(map_executor(double, range(10**6)), 3))


def leave_by_error():
    with pytest.raises(ZeroDivisionError):
        list(map_executor(partial(divmod, 1), range(10**6)))


@pytest.mark.parametrize("leave", [leave_by_break, leave_by_error])
def test_what_is_left_early_leaves_nothing_waiting(leave):
    engine = Recorder()
    with bmlab.workers(engine):
        leave()
    assert 3 <= len(engine.given) < 10**4 and {one.state for one in engine.given} == {"done", "cancelled"}


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)


@pytest.mark.usefixtures("two_cores")
def test_cores_that_are_left_early_have_ended_what_they_began():
    began, ended = [], []

    def slow(part):
        began.append(part)
        sleep(0.05)
        ended.append(part)
        return part

    answers = map_threads(slow, range(1000))
    assert [next(answers), next(answers), next(answers)] == [0, 1, 2]
    answers.close()
    assert sorted(began) == sorted(ended) and len(began) < 100


# Executors


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50, "memory_limit": "2GiB"}
    with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize("name", QUESTIONS)
def test_dask_gives_the_same_bits(name, client):
    here = numbers(QUESTIONS[name]())
    engine = counting(client.get_executor())
    with bmlab.workers(engine):
        assert worker_count() == 2 and numbers(QUESTIONS[name]()) == here
    assert engine.given == PARTS[name]


def asked_on_a_worker():
    """Ask the cluster from inside one of its jobs."""
    with bmlab.workers(import_module("distributed").get_client().get_executor()):
        return list(map_executor(abs, range(5)))


def test_jobs_that_fill_a_cluster_and_ask_it_do_the_parts_themselves(client):
    jobs = [client.submit(asked_on_a_worker, pure=False) for _ in range(2)]
    assert [job.result() for job in jobs] == [[0, 1, 2, 3, 4]] * 2


def deadly(marker, task, number):
    """Part 0 kills its own worker the first time that it is done, before the worker has any result to lose.

    Of a result that is lost Dask (2026.8) may give the wanted key with the status of before (_cascade_future).
    """
    if number == 0 and not os.path.exists(marker):
        open(marker, "x", encoding="utf-8").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return task(number)


def test_a_worker_that_is_killed_changes_nothing(client, tmp_path):
    marker, before = str(tmp_path / "killed"), set(client.run(os.getpid).values())
    task = partial(matrix_products._slice, drawn(18), 4, True)
    here = numbers([SingleThreaded(task)(number) for number in range(16)])
    with bmlab.workers(client.get_executor()):
        found = numbers(list(map_executor(partial(deadly, marker, task), range(16))))
    assert os.path.exists(marker) and found == here
    assert len(before & set(client.run(os.getpid).values())) < 2
