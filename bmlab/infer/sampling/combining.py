"""Pooled runs: the answers of independent runs of one sampler, from many workers, combined into one answer.

Runs of N_r draws each have the weights a_r = N_r / sum N, and independent errors add in squares:

    x = sum_r a_r x_r,      stderr^2 = sum_r a_r^2 stderr_r^2.

If there are 32 runs or more, or if they disagree or do not state an error, the spread of the runs is used instead.
Annealed importance sampling averages its weights, not its log Z: the mean of exp(log Z) has no bias, that of log Z has.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from ...checking.calls import show_call
from ...checking.validation import describe, is_sparse
from ...estimate import UNKNOWN, Bounded, Estimate, warn_unless_converged
from ...methods import METHODS
from ...model import same_machine
from .annealed_importance import Runs, estimate_of
from .diagnostics import EFFECTIVE_DRAWS, RHAT_LIMIT, STDERR_GROUPS, mean_and_stderr, pooled_statistics
from .tempering import MIN_ROUND_TRIPS, TemperingState

COMBINE_EXAMPLE = "pass [bmlab.gibbs(model, rng=seed) for seed in range(8)]"


@show_call()
def combine(answers: Iterable[Estimate]) -> Estimate:
    """Combine the answers of independent runs of gibbs(), temper() or ais() about one machine into one answer.

    answers   Estimates of one of these methods, each run with its own seed, possibly on different computers
    mean, corr, log_z   averages weighted by the number of draws; for ais() by the weights of all runs, as in one run
    stderr    the root of the sum of squared (weighted) errors.  If there are 32 runs or more, or if they disagree or
              state no error, the spread of the runs, wider by Student's t if they are fewer than 32.
    converged the method's own test: R-hat over the chains of all runs (info["rhat"]); for ais() all weights together
    state     the chains, or runs, of all answers; for ladders only if they share their temperatures
    info      "runs", and the entries of the method: "rhat", "ess" (the sum), "n_draws"
    Raises ValueError if there is no answer, for other methods, for different methods or machines, and for two answers
    from the same random numbers (info["streams"]), such as one run or one seed given twice.

    >>> runs = [bmlab.ais(bmlab.medium(), rng=seed, n_chains=100, n_temperatures=100) for seed in range(4)]
    >>> log_z = bmlab.combine(runs).log_z
    >>> abs(log_z - bmlab.exact(bmlab.medium()).log_z) < 4 * log_z.stderr < 4 * runs[0].log_z.stderr
    True
    """
    runs = _checked(answers)
    return warn_unless_converged(_of_weights(runs) if isinstance(runs[0].state, Runs) else _of_chains(runs))


def _checked(answers):
    """Return a list of Estimates of one method about one machine."""
    runs: list[Any] = [*answers] if np.iterable(answers) else [answers]
    for number, run in enumerate(runs):
        if not isinstance(run, Estimate) or run.method not in _combined_methods():
            found = f"one of {run.method or 'no method'}" if isinstance(run, Estimate) else describe(run)
            raise ValueError(
                f"answers must be Estimates of {_in_words(_combined_methods())}, found {found}; {COMBINE_EXAMPLE}"
            )
        if not _belong_together(run, runs[0]):
            raise ValueError(
                f"answers must be of one method about one machine, found another in number {number}; "
                "combine those of each machine alone"
            )
    if not runs:
        raise ValueError(f"answers must be Estimates, found none; {COMBINE_EXAMPLE}")
    _check_independent(runs)
    return runs


def _combined_methods():
    """Return the names of the methods whose runs combine."""
    return sorted(row.name for row in METHODS.values() if row.combines)


def _in_words(names):
    """Return names as calls in a sentence: ais(), gibbs() or temper()."""
    *others, last = [f"{name}()" for name in names]
    return " or ".join(filter(None, (", ".join(others), last)))


def _check_independent(runs):
    """Raise ValueError if two runs began with the same random numbers; their errors would not be independent."""
    drawn_by: dict[Any, int] = {}
    for number, run in enumerate(runs):
        for stream in run.info.get("streams", [id(run)]):
            first = drawn_by.setdefault(stream, number)
            if first != number:
                raise ValueError(
                    f"answers must be of independent runs, found the random numbers of number {first} again in number "
                    f"{number}: one answer given twice, one seed, or one generator sent to all workers; "
                    f"{COMBINE_EXAMPLE}"
                )


def _streams(runs):
    """Return the streams of random numbers of all runs, if every run states its own."""
    streams = [run.info.get("streams") for run in runs]
    return {} if None in streams else {"streams": tuple(stream for own in streams for stream in own)}


def _belong_together(one, other):
    """Whether two answers are of the same method and machine, with the same layout."""
    if one.method != other.method or is_sparse(one.corr) != is_sparse(other.corr):
        return False
    return one.model is not None and other.model is not None and same_machine(one.model, other.model)


def _of_weights(runs):
    states = [run.state for run in runs]
    s = np.vstack([state.s for state in states])
    log_w = np.concatenate([state.log_weights for state in states])
    found = estimate_of(runs[0].model, Runs(s, log_w, states[0].betas))
    return replace(found, info=found.info | {"runs": len(runs)} | _streams(runs))


def _of_chains(runs):
    """Average runs of chains, by their draws."""
    first, n_draws = runs[0], np.array([run.info["n_draws"] for run in runs], float)
    splits = [run.info["split"] for run in runs]
    together = None if None in splits else pooled_statistics(splits)
    rhat = np.nan if together is None else together.rhat
    ess = float(sum(run.info["ess"] for run in runs))
    by_spread = len(runs) >= STDERR_GROUPS or (len(runs) > 1 and rhat >= RHAT_LIMIT)

    def averaged(values, errors):
        return _averaged(np.array(values), np.array(errors), n_draws, by_spread)

    mean, mean_stderr = averaged([run.mean for run in runs], [run.mean_stderr for run in runs])
    corr, corr_stderr = averaged([_numbers(run.corr) for run in runs], [_numbers(run.corr_stderr) for run in runs])
    log_z, stderr = averaged([run.log_z.value for run in runs], [run.log_z.stderr for run in runs])
    trips = float(np.average([run.info.get("round_trips", np.inf) for run in runs], weights=n_draws))
    are_ladders = "round_trips" in first.info
    agree = bool(rhat < RHAT_LIMIT and trips >= MIN_ROUND_TRIPS and (are_ladders or ess >= EFFECTIVE_DRAWS))
    return Estimate(
        mean,
        _laid_out(first.corr, corr),
        UNKNOWN if np.isnan(log_z) else Bounded(float(log_z), float(stderr)),
        mean_stderr,
        _laid_out(first.corr, corr_stderr),
        method=first.method,
        converged=agree,
        message=f"combine() has R-hat {rhat:.4g} over {len(runs)} runs of {first.method}(); "
        f"it should be below {RHAT_LIMIT}"
        + ("." if agree else ": they disagree, or are too short to tell. Raise n_sweeps and burn_in."),
        draws=_joined_draws(runs),
        state=_joined_states(runs),
        info={"runs": len(runs), "rhat": rhat, "ess": ess, "n_draws": int(n_draws.sum()), "split": together}
        | _streams(runs)
        | ({"round_trips": trips} if are_ladders else {}),
        model=first.model,
    )


def _averaged(values, errors, n_draws, by_spread):
    """Return the mean of values (runs, ...) weighted by draws, and its error, from the stated errors or the spread."""
    one_more = np.fmin(errors.max(0), 2 / len(values))  # the change by one more run; 0 on the diagonal
    mean, of_spread = mean_and_stderr(values, n_draws, least=one_more)
    if by_spread or np.isnan(errors).any():
        return mean, of_spread
    return mean, np.sqrt(np.tensordot((n_draws / n_draws.sum()) ** 2, errors**2, 1))


def _numbers(pairs):
    return pairs.data if is_sparse(pairs) else pairs


def _laid_out(like, numbers):
    """Return numbers as a matrix, sparse if `like` is."""
    return (
        scipy.sparse.csr_array((numbers, like.indices, like.indptr), shape=like.shape) if is_sparse(like) else numbers
    )


def _joined_draws(runs):
    draws = [run.draws for run in runs]
    if any(kept is None or len(kept) != len(draws[0]) for kept in draws):
        return None
    return np.concatenate(draws, axis=1)


def _joined_states(runs):
    states = [run.state for run in runs]
    if isinstance(states[0], np.ndarray):
        return np.vstack(states)
    if any(state is None or not np.array_equal(state.temperatures, states[0].temperatures) for state in states):
        return None
    return TemperingState(states[0].temperatures, np.concatenate([state.s for state in states]))
