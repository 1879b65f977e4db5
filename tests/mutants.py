"""The classic bugs, and the law that notices each: tests/test_mutants.py shows that it does.

Two kinds.  WRONG methods answer, by what anybody can call, as a package with the bug would: they show that the laws of
test_contract.py can fail.  EDITS change the syntax tree of a function of the package, all places of a kind ("nothing is
divided by the temperature"): they show that its own tests can.  No line of the package is quoted: its names may change.
"""

import __future__

import ast
import contextlib
import importlib
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import CodeType
from typing import NamedTuple

import numpy as np
import test_annealed_importance
import test_annealing
import test_ascent
import test_belief_propagation
import test_bracketing
import test_choosing
import test_compiled_loops
import test_completion
import test_contract as law
import test_coordinate_descent
import test_diagnostics
import test_dispatch
import test_gaussian_integral
import test_gibbs
import test_likelihood
import test_linear_response
import test_planning
import test_tap_equations
import test_tempering

import bmlab

# Wrong methods: each takes a right one


def of_another_machine(change):
    """Return a bug: the method is asked about change(model) instead of the model."""

    def bug(method):
        def asked(model, *rest, **options):
            answer = method(change(model), *rest, **options)
            return replace(answer, model=model) if isinstance(answer, bmlab.Estimate) else answer

        return asked

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
states_too_little = with_answer(
    lambda answer: replace(answer, info=answer.info | {"error": answer.info["error"] / 100})
)
LOG_2 = np.log(2)
forgets_n_log_2 = with_log_z(
    lambda value, error, low, high, n: (value - n * LOG_2, error, low - n * LOG_2, high - n * LOG_2)
)
calls_it_a_lower_bound = with_log_z(lambda value, error, low, high, n: (value, error, value, max(high, value + 1)))
calls_it_an_upper_bound = with_log_z(lambda value, error, low, high, n: (value, error, low, min(high, low + 1e-3)))


def keeps_the_last(method):
    """Keep the last n_draws states, as if they were spread over all."""

    def asked(*rest, n_draws, n_sweeps, **options):
        answer = method(*rest, n_draws=n_sweeps, n_sweeps=n_sweeps, **options)
        return replace(answer, draws=answer.draws[-n_draws:])

    return asked


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


# The law, a right method that it holds of, and the bugs that it must notice
CAUGHT = [
    (law.law_record, law.on(law.as_it_is, bmlab.exact), "tells_covariances tells_empty_diagonal tells_no_reason"),
    (
        law.law_referee,
        bmlab.exact,
        "forgets_temperature forgets_biases drops_offset offset_forgets_temperature loses_factor_two "
        "counts_couplings_twice turns_signs shifts_units tells_products forgets_n_log_2",
    ),
    (partial(law.law_referee, sizes=(1, 4, 5)), law.seen, "forgets_temperature drops_offset"),
    (law.law_stated_error, law.chosen, "forgets_temperature turns_signs states_too_little"),
    (law.law_bounds, bmlab.mean_field, "drops_offset calls_it_an_upper_bound"),
    (law.law_bounds, law.few_trees, "drops_offset calls_it_a_lower_bound"),
    (law.law_no_weights, bmlab.bethe, "forgets_temperature forgets_biases forgets_n_log_2"),
    (law.law_no_weights, law.sampled, "loses_factor_two"),
    (law.law_no_weights, law.weighted, "drops_offset forgets_n_log_2"),
    (law.law_weak_weights, bmlab.mean_field, "tells_products counts_couplings_twice"),
    (partial(law.law_same, form=law.permuted), bmlab.tap, "shifts_units"),
    (partial(law.law_known, form=law.as_sparse), bmlab.bethe, "tells_zero_for_unknown"),
    (law.law_seed, law.sampled, "ignores_the_seed"),
    (law.law_coverage, law.correlated_chains, "is_too_sure is_too_unsure"),
    (test_gibbs.law_draws, bmlab.gibbs, "keeps_the_last"),
    (law.law_likelihood, bmlab.exact, "forgets_temperature"),
    (law.law_likelihood, bmlab.mean_field, "calls_it_an_upper_bound"),
]


class Wrong(NamedTuple):
    name: str
    law: Callable
    method: Callable
    bug: Callable


WRONG = [
    Wrong(f"{getattr(rule, 'func', rule).__name__}: {method.__name__} {bug}", rule, method, globals()[bug])
    for rule, method, bugs in CAUGHT
    for bug in bugs.split()
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
    """Return the last name of an expression: x.offset, offset[:, None], -offset and offset / T are all `offset`.

    A number is its own name.
    """
    while isinstance(node, (ast.Subscript, ast.UnaryOp, ast.BinOp)):
        if isinstance(node, ast.BinOp):
            if not isinstance(node.op, ast.Div):
                return None
            node = node.left
        else:
            node = node.value if isinstance(node, ast.Subscript) else node.operand
    return node.value if isinstance(node, ast.Constant) else getattr(node, "attr", getattr(node, "id", None))


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
unadded = partial(without, (ast.Add, ast.Sub))


def turned_round(part):
    """Return an edit: `a.part - b.part` becomes `b.part - a.part`."""

    def edit(node):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
            return None
        return ast.BinOp(node.right, ast.Sub(), node.left) if _named(node.left) == _named(node.right) == part else None

    return edit


def _calls(node, name):
    return isinstance(node, ast.Call) and _named(node.func) == name


def uncalled(name, kept=-1):
    """Return an edit: of `name(..., x)`, of a module or not, only the last argument is left, or another one."""

    def edit(node):
        return node.args[kept] if _calls(node, name) and node.args else None

    return edit


def called(name, other):
    """Return an edit: `name(x, ...)` becomes `other(x, ...)`."""

    def edit(node):
        function = ast.Name(other, ast.Load())
        return ast.Call(function, node.args, node.keywords) if _calls(node, name) and node.args else None

    return edit


def zeroed(name):
    """Return an edit: `name(...)` becomes 0."""
    return lambda node: ast.Constant(0) if _calls(node, name) else None


def unsigned(node):
    """Return `name` for `-name`."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    return node.operand if negative and isinstance(node.operand, ast.Name) else None


def uncorrected(node):
    """Return `a / n` for `a / (n - 1)`."""
    below = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else None
    if not isinstance(below, ast.BinOp) or not isinstance(below.op, ast.Sub) or _named(below.right) != 1:
        return None
    return ast.BinOp(node.left, ast.Div(), below.left)


def squared_late(node):
    """Return `a * b**2` for `(a * b) ** 2`."""
    inside = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) else None
    if not isinstance(inside, ast.BinOp) or not isinstance(inside.op, ast.Mult):
        return None
    return ast.BinOp(inside.left, ast.Mult(), ast.BinOp(inside.right, ast.Pow(), node.right))


class Editor(ast.NodeTransformer):
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


def functions_of(owner):
    """Yield the functions that a module or a class defines, with the methods of its classes."""
    for value in vars(owner).values():
        value = inspect.unwrap(getattr(value, "fget", None) or getattr(value, "__func__", value))
        if getattr(value, "__module__", None) != getattr(owner, "__module__", owner.__name__):
            continue
        if inspect.isfunction(value):
            yield value
        elif inspect.isclass(value):
            yield from functions_of(value)


def codes_of(code):
    """Return name -> code of all that is defined in a piece of code."""
    found = {}
    for part in code.co_consts:
        if isinstance(part, CodeType):
            found |= {part.co_qualname: part} | codes_of(part)
    return found


@contextlib.contextmanager
def edited(where, edit):
    """Edit the functions of a module, "module", or one of them, "module:name"; it must apply at least once."""
    path, _, only = where.partition(":")
    module = importlib.import_module(f"bmlab.{path}")
    tree, editor = ast.parse(inspect.getsource(module)), Editor(edit)
    parts = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == only]
    for part in parts if only else [tree]:
        editor.visit(part)
    if not editor.made:
        raise LookupError(f"there is nothing to edit in {where}")
    codes = codes_of(
        compile(ast.fix_missing_locations(tree), "mutant", "exec", flags=__future__.annotations.compiler_flag)
    )
    right = {function: function.__code__ for function in functions_of(module)}
    try:
        for function, code in right.items():
            other = codes.get(code.co_qualname, code)
            if other.co_freevars == code.co_freevars:
                function.__code__ = other
        yield
    finally:
        for function, code in right.items():
            function.__code__ = code


class Edit(NamedTuple):
    """An edit of a module, and the law that notices it."""

    where: str
    edit: Callable
    law: Callable

    def __str__(self):
        told = [cell.cell_contents for cell in self.edit.__closure__ or ()]
        what = " ".join(str(one) for one in told if isinstance(one, (str, int)))
        return f"{self.where}: {self.edit.__qualname__.split('.')[0]} {what}"


right = partial(law.law_referee, bmlab.exact)
series = partial(test_tap_equations.test_the_series_is_right_order_by_order, np.asarray)
algorithms = partial(test_dispatch.law_algorithms, law.machine(5, temperature=1.5))
independent = {name: partial(law.law_no_weights, method) for name, method in law.METHODS.items()}
responding = partial(
    test_linear_response.test_the_covariance_is_the_response_of_the_means, bmlab.mean_field, np.asarray
)
compiled = partial(test_compiled_loops.law_sweeps, test_compiled_loops.naive_mean_field, np.asarray, 0)
laddered = partial(test_tempering.law_half, test_tempering.GLASSES["glass"])
without_numba = partial(test_diagnostics.law_agreement_without_numba, 77)
by_temperature, by_offset = undivided("temperature"), uncalled("with_offset")
EDITS = [
    Edit("learn.likelihood:gradient", by_temperature, law.law_gradient),
    Edit("learn.likelihood:_summed_out", by_temperature, test_likelihood.law_log_prob),
    Edit("infer.exact.dispatch", by_temperature, partial(law.law_no_weights, law.on(law.as_sparse, bmlab.exact))),
    Edit("infer.exact.cutset_conditioning", by_temperature, algorithms),
    Edit("infer.exact.elimination", by_temperature, algorithms),
    Edit("infer.variational.naive_mean_field", by_temperature, partial(law.law_bounds, bmlab.mean_field)),
    Edit("infer.variational.coordinate_descent:rows_by_class", by_temperature, compiled),
    Edit("infer.variational.compiled_loops:sweeper", by_temperature, independent["mean_field"]),
    Edit("infer.variational.tap_equations", by_temperature, series),
    Edit("infer.variational.linear_response", by_temperature, responding),
    Edit(
        "infer.variational.linear_response:inconsistency_of",
        uncalled("max", 0),
        partial(law.law_self_consistent, bmlab.tap),
    ),
    Edit("infer.variational.belief_propagation", by_temperature, independent["bethe"]),
    Edit("infer.bounds.gaussian_integral", by_temperature, test_gaussian_integral.test_it_holds_for_every_diagonal),
    Edit("infer.bounds.tree_reweighting", by_temperature, independent["trw"]),
    Edit("infer.sampling.gibbs", by_temperature, law.law_invariance),
    Edit("infer.sampling.chains", by_temperature, independent["gibbs"]),
    Edit("infer.sampling.annealed_importance", by_temperature, independent["ais"]),
    Edit("infer.sampling.annealing", by_temperature, test_annealing.test_annealed_keeps_the_best_of_the_walk),
    Edit("model:clamp", unadded("offset"), partial(law.law_same, bmlab.exact, law.clamped)),
    Edit("infer.exact.dispatch", by_offset, right),
    Edit("infer.variational.coordinate_descent", by_offset, independent["mean_field"]),
    Edit("infer.variational.belief_propagation", by_offset, independent["bethe"]),
    Edit("infer.variational.free_bounds", by_offset, test_bracketing.test_the_bound_by_couplings_is_their_sum),
    Edit("infer.bounds.tree_reweighting", by_offset, independent["trw"]),
    Edit("infer.sampling.annealed_importance", by_offset, independent["ais"]),
    Edit("model", unadded("biases"), law.law_invariance),
    Edit("learn.likelihood:gradient", turned_round("corr"), law.law_gradient),
    Edit("learn.likelihood:gradient", turned_round("mean"), law.law_gradient),
    Edit("learn.likelihood:log_ratio", turned_round("value"), law.law_likelihood),
    Edit("learn.likelihood:_averaged", squared_late, test_likelihood.law_errors),
    Edit("learn.completion:conditional", without(ast.Mult, "value"), test_completion.law_errors),
    Edit("choosing:try_bethe", unadded("rho"), test_choosing.law_amplified),
    Edit("learn.record:mismatch", uncalled("max"), test_ascent.law_largest),
    Edit("learn.record:mismatch", uncalled("max", 0), test_ascent.law_largest),
    Edit("learn.ascent:_largest_change", uncalled("max"), test_ascent.law_largest),
    Edit("learn.ascent:_largest_change", uncalled("max", 0), test_ascent.law_largest),
    Edit("infer.exact.dispatch:entropy", by_temperature, test_dispatch.law_entropy),
    Edit("infer.exact.elimination:best_order", called("min", "max"), test_planning.law_cheapest),
    Edit("infer.exact.planning:_cheapest", called("min", "max"), test_planning.law_cheapest),
    Edit("infer.variational.coordinate_descent:first_means", unsigned, test_coordinate_descent.law_both_ends),
    Edit("infer.variational.belief_propagation:_propagate", undivided(2), test_belief_propagation.law_alike),
    Edit("infer.sampling.tempering:sweeps", without(ast.Mod, 2), test_tempering.law_conveyor),
    Edit("infer.sampling.tempering:_equalise_rejection", undivided("TARGET_REJECTION"), laddered),
    Edit("infer.sampling.annealed_importance:_schedule", zeroed("std"), test_annealed_importance.law_schedule),
    Edit("infer.sampling.diagnostics:correlation_time", uncorrected, without_numba),
]
