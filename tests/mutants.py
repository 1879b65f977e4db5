"""The classic bugs, and the law that notices each: tests/test_mutants.py shows that it does.

Two kinds.  WRONG methods answer, by what anybody can call, as a package with the bug would: they show that the laws of
test_contract.py can fail.  EDITS change the syntax tree of a function of the package, all places of a kind ("nothing is
divided by the temperature"): they show that its own tests can.  No line of the package is quoted: its names may change.
"""

import __future__

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import test_contract as law

import bmlab

# Wrong methods: each takes a right one


def of_another_machine(change):
    """Return a bug: the method is asked about change(model) instead of the model."""

    def bug(method):
        return lambda model, *rest, **options: method(change(model), *rest, **options)

    return bug


def with_answer(change):
    """Return a bug: of a right answer, change(answer) is told."""

    def bug(method):
        return lambda *rest, **options: change(method(*rest, **options))

    return bug


def with_log_z(change):
    """Return a bug: change(value, stderr, lower, upper) are told of log Z."""

    def told(answer):
        z = answer.log_z
        return replace(answer, log_z=type(z)(*change(z.value, z.stderr, z.lower, z.upper, len(answer.mean))))

    return with_answer(told)


def paired(answer, change):
    corr = change(np.array(law.full(answer.corr)), answer.mean)
    return replace(answer, corr=corr)


def off_diagonal(values):
    return values * (1 - np.eye(len(values)))


forgets_temperature = of_another_machine(lambda model: model.at(1.0))
forgets_biases = of_another_machine(lambda model: replace(model, biases=np.zeros(model.n)))
drops_offset = of_another_machine(lambda model: replace(model, offset=0.0))
offset_forgets_temperature = of_another_machine(lambda model: replace(model, offset=model.offset * model.temperature))
loses_factor_two = of_another_machine(lambda model: model.at(2 * model.temperature))
counts_couplings_twice = of_another_machine(lambda model: replace(model, weights=2 * model.weights))
turns_signs = of_another_machine(lambda model: replace(model, weights=-model.weights, biases=-model.biases))
shifts_units = with_answer(lambda answer: replace(answer, mean=np.roll(answer.mean, 1)))
tells_covariances = with_answer(lambda answer: replace(answer, corr=answer.covariance))
tells_products = with_answer(partial(paired, change=lambda corr, m: np.outer(m, m)))
tells_empty_diagonal = with_answer(partial(paired, change=lambda corr, m: off_diagonal(corr)))
tells_zero_for_unknown = with_answer(partial(paired, change=lambda corr, m: np.nan_to_num(corr)))
tells_no_reason = with_answer(lambda answer: replace(answer, message="Done."))
is_too_sure = with_answer(
    lambda answer: replace(answer, mean_stderr=answer.mean_stderr / 3, corr_stderr=answer.corr_stderr / 3)
)
is_too_unsure = with_answer(
    lambda answer: replace(answer, mean_stderr=answer.mean_stderr * 3, corr_stderr=answer.corr_stderr * 3)
)
forgets_n_log_2 = with_log_z(lambda value, error, low, high, n: (value - n * np.log(2), error, low, high))
calls_it_a_lower_bound = with_log_z(
    lambda value, error, low, high, n: (value, error, value + 0.01, max(high, value + 1))
)
calls_it_an_upper_bound = with_log_z(lambda value, error, low, high, n: (value, error, low, min(high, low + 1e-3)))


def ignores_the_seed(method):
    return lambda model, seed=0, **options: method(model, seed=np.random.default_rng(), **options)


# Wrong sweeps


def all_at_once(model, s, u):
    """Update each unit given the states of all others before the sweep."""
    one = [bmlab.sweep(model, s, u[..., i, None], units=[i])[..., i] for i in range(model.n)]
    return np.stack(one, axis=-1)


def greedy(model, s, u):
    return bmlab.sweep(model.at(1e-3), s, u)


def accepts_by_half(model, s, u):
    return bmlab.sweep(model.at(2 * model.temperature), s, u, rule="metropolis")


class Wrong(NamedTuple):
    """Hold a law, the right method that it holds of, and the bug."""

    name: str
    law: Callable
    method: Callable
    bug: Callable


def wrong(law_, method, *bugs):
    """List the Wrongs of one law and one method."""
    return [Wrong(f"{law_.__name__}: {name}", law_, method, globals()[name]) for name in bugs]


same_sparse = partial(law.law_same, form=law.permuted)
same_sparse.__name__ = "law_same"
known_sparse = partial(law.law_known, form=law.as_sparse)
known_sparse.__name__ = "law_known"
at_weak_weights = partial(law.law_weak_weights, order=2)
at_weak_weights.__name__ = "law_weak_weights"

WRONG = [
    *wrong(law.law_record, law.on(law.as_it_is, bmlab.exact), "tells_covariances", "tells_empty_diagonal"),
    *wrong(law.law_message, bmlab.exact, "tells_no_reason"),
    *wrong(
        law.law_referee,
        bmlab.exact,
        *("forgets_temperature", "forgets_biases", "drops_offset", "offset_forgets_temperature", "loses_factor_two"),
        *("counts_couplings_twice", "turns_signs", "shifts_units", "tells_products", "forgets_n_log_2"),
    ),
    *wrong(law.law_referee, law.seen, "forgets_temperature", "drops_offset"),
    *wrong(law.law_bounds, bmlab.mean_field, "drops_offset", "calls_it_an_upper_bound"),
    *wrong(law.law_bounds, law.few_trees, "drops_offset", "calls_it_a_lower_bound"),
    *wrong(law.law_no_weights, bmlab.bethe, "forgets_temperature", "forgets_biases", "forgets_n_log_2"),
    *wrong(law.law_no_weights, law.sampled, "loses_factor_two"),
    *wrong(law.law_no_weights, law.weighted, "drops_offset", "forgets_n_log_2"),
    *wrong(at_weak_weights, bmlab.mean_field, "tells_products", "counts_couplings_twice"),
    *wrong(same_sparse, bmlab.tap, "shifts_units"),
    *wrong(known_sparse, bmlab.bethe, "tells_zero_for_unknown"),
    *wrong(law.law_seed, law.sampled, "ignores_the_seed"),
    *wrong(law.law_coverage, law.correlated_chains, "is_too_sure", "is_too_unsure"),
    *wrong(law.law_likelihood, bmlab.exact, "forgets_temperature"),
    *wrong(law.law_likelihood, bmlab.mean_field, "calls_it_an_upper_bound"),
]
SWEEPS = {
    "the factor 2 of -1/+1 units is lost": loses_factor_two(bmlab.sweep),
    "T is forgotten": forgets_temperature(bmlab.sweep),
    "biases are forgotten": forgets_biases(bmlab.sweep),
    "all units are updated at once": all_at_once,
    "the lower energy is taken": greedy,
    "Metropolis accepts by half the energy": accepts_by_half,
}


# Edits of the syntax tree


def _named(node):
    """Return the last name of what is read: model.temperature and temperature[:, None] are both `temperature`."""
    while isinstance(node, (ast.Subscript, ast.UnaryOp)):
        node = node.value if isinstance(node, ast.Subscript) else node.operand
    return getattr(node, "attr", getattr(node, "id", None))


def without(kinds, name):
    """Return an edit: of `x kind name`, or `name kind x`, only x is left."""

    def edit(node):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, kinds):
            return None
        if _named(node.right) == name:
            return node.left
        return node.right if _named(node.left) == name and not isinstance(node.op, (ast.Sub, ast.Div)) else None

    return edit


undivided = partial(without, ast.Div)
unmultiplied = partial(without, ast.Mult)
unadded = partial(without, (ast.Add, ast.Sub))


def turned_round(part):
    """Return an edit: `a.part - b.part` becomes `b.part - a.part`."""

    def edit(node):
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Sub)
            and {_named(node.left), _named(node.right)} == {part}
        ):
            return ast.BinOp(node.right, ast.Sub(), node.left)
        return None

    return edit


def instead(name, other):
    """Return an edit: the function `other` is called where `name` was."""

    def edit(node):
        if isinstance(node, ast.Attribute) and node.attr == name:
            return ast.Attribute(node.value, other, node.ctx)
        return ast.Name(other, node.ctx) if isinstance(node, ast.Name) and node.id == name else None

    return edit


def uncalled(name):
    """Return an edit: f(x, ...) is x."""

    def edit(node):
        return node.args[0] if isinstance(node, ast.Call) and _named(node.func) == name and node.args else None

    return edit


class Edited(ast.NodeTransformer):
    """Make an edit wherever it applies, inside first, and count."""

    def __init__(self, edit):
        self.edit, self.made = edit, 0

    def visit(self, node):
        node = self.generic_visit(node)
        other = self.edit(node)
        if other is None:
            return node
        self.made += 1
        return ast.copy_location(other, node)


def edited(function, edit):
    """Return the code of a function after an edit, compiled where the function lives; it must apply at least once."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    edits = Edited(edit)
    tree = ast.fix_missing_locations(edits.visit(tree))
    assert edits.made, f"there is nothing to edit in {function.__qualname__}"
    names = {}
    exec(compile(tree, "mutant", "exec", flags=__future__.annotations.compiler_flag), function.__globals__, names)
    return names[function.__name__].__code__
