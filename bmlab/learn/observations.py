"""The data as the learners read it: rows in the order of the units, or moments; how much each row counts."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import by_name, names_of, units_of
from ..checks import check_array, check_spins, in_words, is_sparse
from ..couplings import entries
from ..estimate import Estimate, as_corr, check_estimate, coupled_pairs
from ..model import BoltzmannMachine, check_model

ABSENT = 1e-12  # a probability below is none: no data are so many


def named(model: BoltzmannMachine, data: Any) -> BoltzmannMachine:
    """Return the model; where it has no names, with those of the columns of a table, hidden units as h1, h2, ..."""
    check_model(model)
    names = names_of(data)
    if model.names or not 0 < len(names) <= model.n:
        return model
    return replace(model, names=(*names, *(f"h{k + 1}" for k in range(model.n - len(names)))))


def ordered(model: BoltzmannMachine, data: Any) -> np.ndarray:
    """Return data (N, v) for the first v units; columns with names go to the units of these names.

    A unit without a column is hidden, nan.  Raises ValueError as units_of() does.
    """
    rows = by_name("data", data, model.names, "pass rows (N, units) of -1/+1")
    if not rows.ndim:
        raise ValueError(f"data must be rows (N, units), found {in_words(data)}; pass [[1, -1, ...], ...]")
    return np.atleast_2d(rows)


def checked_visible(model: BoltzmannMachine, data: Any) -> np.ndarray:
    """Return data (N, v), -1/+1, for the first v units; raise ValueError where it is not, or wider than the machine."""
    check_model(model)
    rows = ordered(model, data)
    seen = units_of(data, model.names)
    if seen is not None and rows.shape[1] > len(seen):
        lacking = model.names[np.setdiff1d(np.arange(rows.shape[1]), seen)[0]]
        raise ValueError(f"unit {lacking!r} has no column, and units after it have; pass its column, too")
    return _visible(model, rows)


def _visible(model, data):
    data = check_spins("data", data)
    if data.ndim > 2 or not len(data) or not 0 < data.shape[1] <= model.n:
        raise ValueError(
            f"data must have at least one row and 1 to {model.n} columns, found {data.shape}; pass (N, visible units)"
        )
    return data


def checked_rows(model: BoltzmannMachine, data: Any) -> np.ndarray:
    """Return data as rows (N, n), nan where a unit is hidden; raise ValueError as checked_visible()."""
    check_model(model)
    data = ordered(model, data)
    _visible(model, np.where(np.isnan(data), 1.0, data))
    return padded(model, data)


def padded(model: BoltzmannMachine, data: np.ndarray) -> np.ndarray:
    """Return data (N, v) as rows (N, n), nan where a unit is hidden."""
    if data.shape[1] == model.n:
        return data
    return np.hstack([data, np.full((len(data), model.n - data.shape[1]), np.nan)])


def checked_units(data: Any) -> np.ndarray:
    """Return data as (N, n) of -1/+1, float64; raise ValueError where it is not or where it is empty."""
    data = np.atleast_2d(check_spins("data", data))
    if data.ndim > 2 or not data.size:
        raise ValueError(f"data must have at least one row and one column, found shape {data.shape}; pass (N, units)")
    return data


def hides_nothing(model: BoltzmannMachine, data: Any) -> bool:
    """Whether the data of a climb, moments or rows (N, v), leave no unit hidden."""
    return isinstance(data, Estimate) or (data.shape[1] == model.n and not np.isnan(data).any())


def checked_moments(model: BoltzmannMachine, data: Estimate) -> Estimate:
    """Return an Estimate of the moments of all units of the data, in their order, with corr laid out as the weights."""
    check_estimate("data", data)
    units = units_of(data, model.names, whole=True)
    if np.shape(data.mean) != (model.n,) or (is_sparse(data.corr) and not model.is_sparse):
        raise ValueError(
            f"moments must be of all {model.n} units and, where weights are dense, of all pairs, found {data!r}; "
            "data with hidden units come as rows"
        )
    if units is not None and (units != np.arange(model.n)).any():
        order = np.argsort(units)
        data = replace(data, mean=data.mean[order], corr=data.corr[order][:, order], columns=model.names)
    if model.is_sparse and not is_sparse(data.corr):
        return replace(data, corr=as_corr(model, np.asarray(data.corr)[coupled_pairs(model)]))
    return data


def shares(sample_weight: Any, count: int) -> np.ndarray | None:
    """Return the share (N,) of each row, None where all are equal; raise ValueError for weights that are none."""
    if sample_weight is None:
        return None
    weight = check_array("sample_weight", sample_weight, f"pass np.ones({count})")
    if weight.shape != (count,) or not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        raise ValueError(
            f"sample_weight must be one number for each of the {count} rows, 0 or more and not all 0, found shape "
            f"{weight.shape}; pass np.ones({count})"
        )
    return weight / weight.sum()


def alike(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (first, which, count) of the distinct rows of x (N, n), of -1, 0 and +1 or of booleans, in their order.

    Rows are compared as text: comparing voids or structures, NumPy makes a TypeError of Ctrl-C.
    """
    code = np.pad(x + 1, ((0, 0), (1, 0))).astype(np.int8)
    text = np.ascontiguousarray(code).view(f"S{code.shape[1]}").ravel()
    _, first, which, count = np.unique(text, return_index=True, return_inverse=True, return_counts=True)
    return first, which, count


def distinct(s: np.ndarray, share: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the patterns (K, n) in rows s (N, n) of -1, 0 or +1, and the share (K,) of each; rows count by `share`."""
    bits = np.pad(np.hstack([s > 0, s < 0]), ((0, 0), (1, 0)))
    code = np.ascontiguousarray(np.packbits(bits, axis=1))
    _, first, which, count = np.unique(  # as text, see alike()
        code.view(f"S{code.shape[1]}").ravel(), return_index=True, return_inverse=True, return_counts=True
    )
    return s[first], count / len(s) if share is None else np.bincount(which.ravel(), share)


def checked_couplings(couplings: Any, n: int) -> np.ndarray | None:
    """Return the mask of the weights that exist, (n, n), or None; raise ValueError where it is no symmetric mask."""
    if couplings is None:
        return None
    mask = check_array("couplings", couplings, "try W != 0")
    if mask.shape != (n, n) or not np.isfinite(mask).all() or (mask != mask.T).any():
        raise ValueError(f"couplings must be a symmetric ({n}, {n}) mask, found {in_words(couplings)}; try W != 0")
    return (mask != 0) & ~np.eye(n, dtype=bool)


def check_each_varies(mean: np.ndarray, way_out: str) -> None:
    """Raise ValueError where a unit is constant in the data."""
    constant = np.flatnonzero(1 - np.abs(mean) < ABSENT)
    if len(constant):
        raise ValueError(
            f"unit {constant[0]} is constant in the data ({len(constant)} such units), so its bias would "
            f"be infinite; {way_out}"
        )


def check_all_combinations(mean: np.ndarray, corr: Any, pairs: tuple) -> None:
    """Raise ValueError where a coupled pair lacks a combination: the larger its weight and biases, the likelier."""
    row, col = pairs
    for one, other in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        p = (1 + one * mean[row] + other * mean[col] + one * other * entries(corr, pairs)) / 4
        for k in np.flatnonzero(p < ABSENT):
            raise ValueError(
                f"units {row[k]} and {col[k]} are never {one:+} and {other:+} together in the data, so "
                "their weight would be infinite; pass penalty=0.01, or leave the pair out of couplings"
            )
