"""within_free_bounds: the truth is never refuted, a value outside always."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from test_belief_propagation import forest
from test_contract import any_machine

import bmlab
from bmlab.infer.variational.free_bounds import couplings_bound, product_bound, within_free_bounds

FORMS = {"dense": np.asarray, "sparse": sparse.csr_array}


@pytest.mark.parametrize("to", FORMS.values(), ids=FORMS)
def test_the_truth_lies_within(to):
    """Also if a bound is attained: units alone, trees in the deep cold, an offset that leaves few digits."""
    machines = [any_machine(seed) for seed in range(20)]
    machines += [forest(5, np.random.default_rng(seed)).at(0.01) for seed in range(5)]
    machines += [replace(machines[0], weights=np.zeros((machines[0].n,) * 2), offset=offset) for offset in (0.0, 1e9)]
    for model in machines:
        model = replace(model, weights=to(model.weights))
        answer = bmlab.exact(model)
        assert within_free_bounds(model, answer, "use more").converged


@pytest.mark.parametrize("to", FORMS.values(), ids=FORMS)
def test_what_lies_outside_is_refuted_with_the_bound_and_advice(to):
    for seed in range(10):
        model = replace(any_machine(seed), weights=to(any_machine(seed).weights))
        lower, upper = product_bound(model), couplings_bound(model)
        for value, bound, side in ((upper + 1e-6, upper, "at most"), (lower - 1e-6, lower, "at least")):
            answer = replace(bmlab.exact(model), log_z=bmlab.Bounded(value))
            found = within_free_bounds(model, answer, "use more")
            assert not found.converged and f"{side} {bound:.6g}; use more." in found.message
            assert found.log_z is answer.log_z
