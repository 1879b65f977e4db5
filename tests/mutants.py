"""The classic bugs.  Each is one edit of the package's source; tests/test_mutants.py shows that a law catches it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import test_annealed_importance
import test_belief_propagation
import test_bracketing
import test_checkpoints
import test_choosing
import test_clamped_batches
import test_completion
import test_contract as law
import test_contrastive_divergence
import test_coordinate_descent
import test_diagnostics
import test_estimators
import test_exact_sampling
import test_fitting
import test_gaussian_integral
import test_interop
import test_inversion
import test_likelihood
import test_linear_response
import test_maximum_likelihood
import test_model
import test_pseudolikelihood
import test_replica_exchange
import test_roads
import test_simulated_annealing
import test_structured_mean_field
import test_tap_equations
import test_threads
import test_tree_reweighting
import test_visited_states

import bmlab
from bmlab import arrays, interop, model, threads
from bmlab.estimators import binary_features, classifier, density
from bmlab.infer import bethe_error, choosing
from bmlab.infer.bounds import bracketing, gaussian_integral, structured_mean_field, tree_reweighting
from bmlab.infer.exact import cutset_conditioning, enumeration, matrix_products, small_tables, variable_elimination
from bmlab.infer.sampling import (
    annealed_importance,
    chains,
    diagnostics,
    gibbs_sampling,
    replica_exchange,
    simulated_annealing,
    visited_states,
)
from bmlab.infer.variational import (
    belief_propagation,
    cooling,
    coordinate_descent,
    linear_response,
    naive_mean_field,
    tap_equations,
)
from bmlab.learn import (
    ascent,
    checkpoints,
    clamped_batches,
    completion,
    contrastive_divergence,
    inversion,
    likelihood,
    maximum_likelihood,
    pseudolikelihood,
)


class Mutant(NamedTuple):
    """Hold one bug: an edit of a function, and the law that must notice."""

    name: str
    function: Callable  # where the bug is put
    old: str  # stands in its source exactly once
    new: str
    law: partial  # raises AssertionError when the bug is in


def in_a_folder(of_a_folder):
    """Hold a law that needs a folder to write in."""
    with TemporaryDirectory() as folder:
        of_a_folder(Path(folder))


MUTANTS = [
    Mutant(
        "the arrays inside sparse weights can be written to",
        arrays.read_only,
        "(array.data, array.indices, array.indptr)",
        "()",
        partial(test_model.check_frozen),
    ),
    Mutant(
        "the factor 2 of -1/+1 units is lost",
        gibbs_sampling.sweep,
        "2 * h / model.temperature",
        "h / model.temperature",
        partial(law.law_invariance),
    ),
    Mutant(
        "the sampler ignores T", gibbs_sampling.sweep, "2 * h / model.temperature", "2 * h", partial(law.law_invariance)
    ),
    Mutant(
        "the sampler forgets its biases", gibbs_sampling.sweep, " + model.biases[i]", "", partial(law.law_invariance)
    ),
    Mutant(
        "all units of a block are updated at once",
        chains._NumpyEngine._update,
        "inner[r, :r] @ flips[:r]",
        "0.0",
        partial(law.law_invariance, law.SAMPLERS["NumPy, sequential"]),
    ),
    Mutant(
        "a doubtful draw is decided by a coin",
        chains._NumpyEngine._choose,
        "whole.flat[doubt] + digits < p.flat[doubt]",
        "digits < 0.5",
        partial(law.law_invariance, law.SAMPLERS["NumPy, sequential"]),
    ),
    Mutant(
        "Metropolis accepts by the energy of one unit alone",
        chains.chance_of_plus,
        "np.minimum(-s * x, 0)",
        "np.minimum(-s * x / 2, 0)",
        partial(law.law_invariance, law.SAMPLERS["NumPy, Metropolis"]),
    ),
    Mutant(
        "the engines read the random stream in different orders",
        chains._NumpyEngine._choose,
        "place + row",
        "place - row",
        partial(law.law_engines_agree, bmlab.ising((10, 10)).at(2.3), 1000),
    ),
    Mutant(
        "sweeps are taken for independent draws",
        diagnostics.mean_and_stderr,
        "np.sqrt(spread * count / (count - 1))",
        "np.sqrt((1 - mean**2) / (64 * 40))",
        partial(law.law_coverage, law.correlated_chains),
    ),
    Mutant(
        "the standard error lacks its 1/sqrt(chains)",
        diagnostics.mean_and_stderr,
        "spread * count /",
        "spread * count**2 /",
        partial(law.law_coverage, law.correlated_chains),
    ),
    Mutant(
        "R-hat compares whole chains",
        diagnostics.halves,
        "np.vstack([x[:, :half], x[:, -half:]])",
        "x[:, : 2 * half]",
        partial(test_diagnostics.law_arviz),
    ),
    Mutant(
        "the sum of autocorrelations goes on into the noise",
        diagnostics.effective_size,
        "int((pairs <= 0).argmax()) if (pairs <= 0).any() else len(pairs) - 1",
        "len(pairs) - 1",
        partial(test_diagnostics.law_arviz),
    ),
    Mutant(
        "equal values take different ranks",
        diagnostics.normal_scores,
        "rank[which]",
        "1.0 + x.ravel().argsort().argsort()",
        partial(test_diagnostics.law_arviz),
    ),
    Mutant(
        "duplicates are counted in the visited sum",
        visited_states.merged,
        "np.unique(key, return_index=True, return_inverse=True)",
        "key, np.arange(len(key)), np.arange(len(key))",
        partial(test_visited_states.law_once),
    ),
    Mutant(
        "the visited sum forgets T",
        visited_states.log_sum,
        "seen.energy / model.temperature",
        "seen.energy",
        partial(test_visited_states.law_bound),
    ),
    Mutant(
        "the visited sum drops the offset",
        visited_states.distinct,
        "model.energy(s)",
        "model.energy(s) - model.offset",
        partial(test_visited_states.law_bound),
    ),
    Mutant(
        "log Z of the start is forgotten",
        annealed_importance.ais,
        "_first_log_z(model, first) + sum",
        "sum",
        partial(test_annealed_importance.law_uncoupled),
    ),
    Mutant(
        "n ln 2 is forgotten in AIS",
        arrays.log_2cosh,
        "return x + np.log1p(np.exp(-2 * x))",
        "return x + np.log1p(np.exp(-2 * x)) - np.log(2)",
        partial(test_annealed_importance.law_uncoupled),
    ),
    Mutant(
        "annealing drops the offset",
        annealed_importance._first_log_z,
        " - model.offset / model.temperature",
        "",
        partial(test_annealed_importance.law_uncoupled),
    ),
    Mutant(
        "annealed chains ignore T",
        annealed_importance._anneal,
        "np.full_like(chains.beta, high / temperature)",
        "np.full_like(chains.beta, high)",
        partial(test_annealed_importance.law_unbiased),
    ),
    Mutant(
        "the weights ignore T",
        annealed_importance._anneal,
        "(high - low) / (2 * temperature)",
        "(high - low) / 2",
        partial(test_annealed_importance.law_unbiased),
    ),
    Mutant(
        "the weight is taken after the sweep",
        annealed_importance._anneal,
        "r = chains.s.astype(float)",
        "chains.beta, chains.biases = np.full_like(chains.beta, high / temperature), (rest + first / high)[:, 0]; "
        "chains.sweep(); r = chains.s.astype(float)",
        partial(test_annealed_importance.law_unbiased),
    ),
    Mutant(
        "the class summed over is swept last",
        annealed_importance._anneal,
        "chains.classes[0]",
        "chains.classes[-1]",
        partial(test_annealed_importance.law_unbiased, test_annealed_importance.MACHINES["restricted"]),
    ),
    Mutant(
        "the start's biases fade with the couplings",
        annealed_importance._anneal,
        "first / high",
        "first",
        partial(test_annealed_importance.law_unbiased),
    ),
    Mutant(
        "swaps go the wrong way",
        replica_exchange.swap_chance,
        "np.diff(beta) * np.diff(energies)",
        "-np.diff(beta) * np.diff(energies)",
        partial(test_replica_exchange.law_detailed_balance),
    ),
    Mutant(
        "n ln 2 is forgotten in temper",
        replica_exchange.Tally.log_z,
        "self.replicas.model.n * np.log(2) + total.sum()",
        "total.sum()",
        partial(test_replica_exchange.law_log_z),
    ),
    Mutant(
        "log Z is left to the trapezoid rule",
        replica_exchange.Tally.log_z,
        "np.log(hot.mean(0) / cold.mean(0)) - self.step",
        "-self.step",
        partial(test_replica_exchange.law_coverage),
    ),
    Mutant(
        "temperatures stay where they were after a swap",
        replica_exchange.Replicas.sweeps,
        "self.chains.beta[self.at] = self.beta",
        "self.chains.beta[:] = np.tile(self.beta, len(self.at))",
        partial(test_replica_exchange.law_log_z),
    ),
    Mutant(
        "the errors of the parts of log Z are averaged, not added",
        replica_exchange.Tally.log_z,
        "noise.sum(1)",
        "noise.mean(1)",
        partial(test_replica_exchange.law_coverage),
    ),
    Mutant(
        "annealing keeps the last state, not the best",
        simulated_annealing.annealed,
        "now < energies",
        "now < np.inf",
        partial(test_simulated_annealing.law_best_of_the_walk),
    ),
    Mutant(
        "annealing takes T for 1/T",
        simulated_annealing.annealed,
        "1 / temperature",
        "temperature",
        partial(test_simulated_annealing.law_best_of_the_walk),
    ),
    Mutant(
        "exact ignores T",
        small_tables.sum_by_tables,
        "q /= model.temperature",
        "q /= 1",
        partial(law.law_temperature, bmlab.exact),
    ),
    Mutant(
        "the offset of clamped units is dropped",
        enumeration._estimate,
        "log_z - model.offset / model.temperature",
        "log_z",
        partial(law.law_referee, bmlab.exact),
    ),
    Mutant(
        "the offset forgets T",
        enumeration._estimate,
        "model.offset / model.temperature",
        "model.offset",
        partial(law.law_temperature, bmlab.exact),
    ),
    Mutant(
        "a face of the triangle is not turned",
        matrix_products._tiles,
        "right[:, tile].T @ left.T",
        "left[tile] @ right",
        partial(law.law_referee, bmlab.exact),
    ),
    Mutant(
        "the largest entry of a face is not put back",
        matrix_products._faces,
        "log_scale += top",
        "log_scale += 0",
        partial(law.law_referee, bmlab.exact),
    ),
    Mutant(
        "of two limits on BLAS, the second remembers the first",
        threads._deepen,
        "if _depth and not was_held",
        "if not was_inside and _depth[me]",
        partial(test_threads.law_overlap),
    ),
    Mutant(
        "a wide product does not lift the limit of whoever asks",
        matrix_products._tiles,
        "all_threads() if",
        "nullcontext() if",
        partial(test_threads.law_wide_products),
    ),
    Mutant(
        "n ln 2 is forgotten",
        enumeration._by_product,
        "np.logaddexp(field, -field).sum()",
        "np.log(np.cosh(field)).sum()",
        partial(law.law_no_weights, bmlab.exact),
    ),
    Mutant(
        "the listed units are summed without the others",
        cutset_conditioning._alone,
        "log_sum = size.sum(0)",
        "log_sum = 0 * size.sum(0)",
        partial(test_roads.law_listed),
    ),
    Mutant(
        "a tile forgets how the sum was scaled",
        cutset_conditioning.sum_listed,
        "total = total * fade",
        "total = total",
        partial(test_roads.law_listed),
    ),
    Mutant(
        "a message forgets T",
        variable_elimination.eliminate,
        "/ model.temperature",
        "",
        partial(test_roads.law_elimination),
    ),
    Mutant(
        "the way back forgets the parent",
        variable_elimination.hand_back,
        "_marginal(tables[parent], [scope[0], *order.scopes[parent]], scope)",
        "np.full((2,) * len(scope), 0.5 ** len(scope))",
        partial(test_roads.law_elimination),
    ),
    Mutant(
        "perfect samples take the third group on its own",
        matrix_products.draw_by_products,
        "(bc[b[k]] * ca[:, a[k]])",
        "bc[b[k]]",
        partial(test_exact_sampling.law_samples, "three products"),
    ),
    Mutant(
        "perfect samples turn the odds round",
        variable_elimination.draw,
        "expit(table[given])",
        "expit(-table[given])",
        partial(test_exact_sampling.law_samples, "elimination"),
    ),
    Mutant(
        "mean field counts each coupling twice",
        naive_mean_field.free_energy,
        "model.energy(m)",
        "2 * model.energy(m) + model.biases @ m - model.offset",
        partial(law.law_bounds, bmlab.mean_field),
    ),
    Mutant(
        "the diagonal is in the mean-field energy",
        naive_mean_field.free_energy,
        "model.energy(m)",
        "model.energy(m) - m @ m",
        partial(law.law_bounds, bmlab.mean_field),
    ),
    Mutant(
        "the entropy is forgotten",
        naive_mean_field.free_energy,
        "- model.temperature * entropy",
        "",
        partial(law.law_no_weights, bmlab.mean_field),
    ),
    Mutant(
        "the entropy forgets T",
        naive_mean_field.free_energy,
        "model.temperature * entropy",
        "entropy",
        partial(law.law_temperature, bmlab.mean_field),
    ),
    Mutant(
        "the response has the wrong sign",
        linear_response.curvature_matrix,
        "np.diag(own) - pull",
        "np.diag(own) + pull",
        partial(law.law_weak_weights, bmlab.mean_field),
    ),
    Mutant(
        "correlations are taken for products of means",
        linear_response.respond,
        "root[i] * root[j] * at_couplings + m[i] * m[j]",
        "m[i] * m[j]",
        partial(law.law_weak_weights, bmlab.mean_field),
    ),
    Mutant(
        "coupled units are updated at once",
        coordinate_descent.rows_by_class,
        "model.colours",
        "[np.arange(model.n)]",
        partial(test_coordinate_descent.law_falls, naive_mean_field.theory, test_coordinate_descent.MACHINES["sparse"]),
    ),
    Mutant(
        "Newton's step is taken wherever it leads",
        coordinate_descent._newton,
        "theory.value(there) <= now + ROUNDING * abs(now)",
        "True",
        partial(test_coordinate_descent.law_newton, naive_mean_field.theory, test_coordinate_descent.MACHINES["dense"]),
    ),
    Mutant(
        "the highest of several valleys is the answer",
        coordinate_descent._fixed_points,
        "values.argsort(",
        "(-values).argsort(",
        partial(test_coordinate_descent.law_valleys),
    ),
    Mutant(
        "the offset blurs the free energies",
        naive_mean_field.theory,
        "replace(model, offset=0.0)",
        "model",
        partial(test_coordinate_descent.law_offset, bmlab.mean_field),
    ),
    Mutant(
        "the second start has the sign of LAPACK's vector",
        coordinate_descent._leading_fields,
        "np.where(model.biases @ vectors < 0, -1, 1)",
        "1",
        partial(test_coordinate_descent.law_mirror, bmlab.mean_field),
    ),
    Mutant(
        "a saddle is taken for an answer",
        coordinate_descent.solution,
        " and response.stable",
        "",
        partial(test_linear_response.law_saddle, bmlab.mean_field),
    ),
    Mutant(
        "one fixed point is told several times",
        coordinate_descent._fixed_points,
        "> SAME",
        ">= 0",
        partial(test_coordinate_descent.law_distinct, bmlab.mean_field),
    ),
    Mutant(
        "each temperature starts afresh",
        cooling.cooled,
        "start=state",
        "start=None",
        partial(test_coordinate_descent.law_cooled, bmlab.mean_field),
    ),
    Mutant(
        "the echo does not turn with its unit",
        tap_equations._without_echo,
        "field - x - echo * t)",
        "field - x - echo)",
        partial(test_tap_equations.law_equation),
    ),
    Mutant(
        "the echo forgets T",
        tap_equations.theory,
        "(model.weights / model.temperature) ** 2",
        "model.weights ** 2",
        partial(law.law_temperature, bmlab.tap),
    ),
    Mutant(
        "the echo is missing in TAP's response",
        tap_equations._curvature,
        "1 + v * row_sums(model, j**2 * v[col])",
        "np.ones(model.n)",
        partial(test_linear_response.law_response, bmlab.tap),
    ),
    Mutant(
        "the second order counts each pair twice",
        tap_equations.plefka_orders,
        "v[col]).sum() / 4",
        "v[col]).sum() / 2",
        partial(test_tap_equations.law_orders),
    ),
    Mutant(
        "the third order lacks its triangles",
        tap_equations.plefka_orders,
        "+ _triangles(model, v)",
        "",
        partial(test_tap_equations.law_orders),
    ),
    Mutant(
        "messages come back to their sender",
        belief_propagation._settle,
        "u[mine].sum() - u[mine]",
        "u[mine].sum()",
        partial(test_belief_propagation.law_forests),
    ),
    Mutant(
        "messages are those of the ground state",
        belief_propagation._through,
        "np.log1p(np.exp(-2 * plus)) - np.log1p(np.exp(-2 * minus))",
        "0.0",
        partial(test_belief_propagation.law_messages),
    ),
    Mutant(
        "units are counted once too often in Bethe's log Z",
        belief_propagation._beliefs,
        "(1 - degree)",
        "(2 - degree)",
        partial(law.law_no_weights, bmlab.bethe),
    ),
    Mutant(
        "messages forget T",
        belief_propagation.graph_of,
        " / model.temperature",
        "",
        partial(law.law_temperature, bmlab.bethe),
    ),
    Mutant(
        "Bethe's response is that of mean field",
        belief_propagation.curvature,
        "np.bincount(graph.row, covariance * slope, model.n) + 1.0",
        "np.ones(model.n)",
        partial(test_belief_propagation.law_forests),
    ),
    Mutant(
        "trees do not share out the couplings",
        tree_reweighting._tree_parameters,
        "graph.j / share",
        "graph.j",
        partial(law.law_bounds, law.few_trees),
    ),
    Mutant(
        "trees do not share out the fields",
        tree_reweighting._tree_parameters,
        "share * mixture.a",
        "mixture.a",
        partial(test_tree_reweighting.law_shares),
    ),
    Mutant(
        "the upper bound drops the offset",
        tree_reweighting.trw,
        "mixture.bound - model.offset / model.temperature",
        "mixture.bound",
        partial(law.law_bounds, law.few_trees),
    ),
    Mutant(
        "what all trees have in common is missing in the gradient",
        tree_reweighting.bound_of,
        "gradient - share * everywhere[graph.row]",
        "gradient",
        partial(test_tree_reweighting.law_gradient),
    ),
    Mutant(
        "the information of a pair is its entropy",
        tree_reweighting._information,
        "alone - entr(p).sum(0)",
        "entr(p).sum(0)",
        partial(test_tree_reweighting.law_gap),
    ),
    Mutant(
        "the children ignore how likely their parent is",
        structured_mean_field._minus_bound,
        "(chance * entropy).sum()",
        "entropy[:, 1:].mean(0).sum() + entropy[0, 0]",
        partial(test_structured_mean_field.law_definition),
    ),
    Mutant(
        "the way back forgets the variance of the parent",
        structured_mean_field._back,
        " - 2 * m[p] * here[p]",
        "",
        partial(test_structured_mean_field.law_gradient),
    ),
    Mutant(
        "noise costs half of d, not two thirds",
        gaussian_integral._bound,
        "2 / 3 * d.sum()",
        "d.sum() / 2",
        partial(test_gaussian_integral.law_bound),
    ),
    Mutant(
        "n ln 2 is forgotten under the Gaussian",
        gaussian_integral._bound,
        "np.log(np.pi / 2)",
        "np.log(2 * np.pi)",
        partial(test_gaussian_integral.law_free_units),
    ),
    Mutant(
        "the worst of the upper bounds ends the bracket",
        bracketing.between,
        "min(above, ",
        "max(above, ",
        partial(test_bracketing.law_ends),
    ),
    Mutant(
        "n ln 2 is forgotten beside the couplings",
        bracketing.upper_bounds,
        "log_2cosh(model.biases / model.temperature)",
        "np.abs(model.biases / model.temperature)",
        partial(test_bracketing.law_couplings),
    ),
    Mutant(
        "hidden pairs are averaged as if independent",
        likelihood._put_hidden,
        "pairs[np.ix_(unknown, unknown)] = hidden",
        "hidden",
        partial(law.law_gradient),
    ),
    Mutant(
        "the clamped phase averages hidden units before it multiplies",
        likelihood._closed_form,
        "= np.tanh(f)",
        "= np.tanh(f).mean(0)",
        partial(law.law_gradient, False),
    ),
    Mutant(
        "rare patterns count as much as common ones",
        likelihood._pattern_by_pattern,
        "share = count / len(rows)",
        "share = np.full(len(count), 1 / len(count))",
        partial(law.law_gradient),
    ),
    Mutant(
        "pcd loses the factor 2 of -1/+1 units",
        contrastive_divergence.Climb._draw,
        "u *= -2",
        "u *= -1",
        partial(test_contrastive_divergence.law_step),
    ),
    Mutant(
        "pcd forgets one T",
        contrastive_divergence.Climb.step,
        "rate / self.model.temperature**2 ",
        "rate / self.model.temperature ",
        partial(test_contrastive_divergence.law_step),
    ),
    Mutant(
        "the centre is forgotten in the hidden biases",
        contrastive_divergence.Climb.__init__,
        "hidden + self.origin @ weights",
        "hidden",
        partial(test_contrastive_divergence.law_step),
    ),
    Mutant(
        "persistent chains begin at the data",
        contrastive_divergence.Climb.step,
        "self._draw(t[n:])",
        "self._draw(t[:n])",
        partial(test_contrastive_divergence.law_persistence),
    ),
    Mutant(
        "one sweep is made whatever n_sweeps",
        contrastive_divergence.Climb.step,
        "range(n_sweeps - 1)",
        "range(0)",
        partial(test_contrastive_divergence.law_step, "data", 3),
    ),
    Mutant(
        "pcd's penalty grows with T",
        contrastive_divergence.Climb.step,
        "rate * self.model.temperature**2 * penalty",
        "rate * penalty",
        partial(test_contrastive_divergence.law_penalty),
    ),
    Mutant(
        "the answer is the mean of all steps",
        contrastive_divergence.pcd,
        "k >= steps // 2",
        "k >= 0",
        partial(test_contrastive_divergence.law_average),
    ),
    Mutant(
        "batches are drawn with replacement",
        ascent.batches,
        "rng.permutation(n_rows)",
        "rng.integers(n_rows, size=n_rows)",
        partial(test_fitting.law_batches),
    ),
    Mutant(
        "every epoch has the same order",
        ascent.batches,
        "rng.permutation(n_rows)",
        "np.arange(n_rows)",
        partial(test_fitting.law_batches),
    ),
    Mutant(
        "a hidden unit's part of a turned unit forgets T",
        pseudolikelihood._gain_of_turning,
        "_across(model, visible) / model.temperature",
        "_across(model, visible)",
        partial(test_contrastive_divergence.law_score),
    ),
    Mutant(
        "annealing runs are samples, whatever their weights",
        density.draw,
        "p=share",
        "p=None",
        partial(test_estimators.law_weights),
    ),
    Mutant(
        "classes are equally frequent",
        classifier.BoltzmannClassifier._joint,
        " + np.log(self.class_count_[k])",
        "",
        partial(test_estimators.law_bayes),
    ),
    Mutant(
        "samples are written with the wrong sign",
        binary_features.Binary._written,
        "(s > 0)",
        "(s < 0)",
        partial(test_estimators.law_frequencies),
    ),
    Mutant(
        "patterns count once",
        density.BoltzmannDensity._learn,
        "weights=counts",
        "weights=None",
        partial(test_estimators.law_more_rows),
    ),
    Mutant(
        "a turned unit moves fields by one, not two",
        pseudolikelihood._gain_of_turning,
        "f - 2 * data",
        "f - data",
        partial(test_contrastive_divergence.law_score),
    ),
    Mutant(
        "the entropy of hidden units counts twice",
        clamped_batches.clamped_mean_field,
        "(entropy - ",
        "(2 * entropy - ",
        partial(test_clamped_batches.law_lower),
    ),
    Mutant(
        "a missing entry is hidden in every row",
        clamped_batches.clamped_gibbs,
        "np.where(free, rng.random(fixed.shape), fixed)",
        "rng.random(fixed.shape)",
        partial(test_clamped_batches.law_holes),
    ),
    Mutant(
        "errors are those of one chain's sweeps",
        clamped_batches.clamped_gibbs,
        "mean_and_stderr(means.mean(0), equal)",
        "mean_and_stderr(means.reshape(-1, model.n), np.ones(means[..., 0].size))",
        partial(test_clamped_batches.law_covers),
    ),
    Mutant(
        "missing entries are taken as -1",
        likelihood.clamped_alike,
        "rows, unknown)",
        "np.nan_to_num(rows, nan=-1), unknown[:0])",
        partial(test_likelihood.law_missing),
    ),
    Mutant(
        "each set of unknowns counts alike",
        likelihood._pooled,
        "p * part",
        "part / len(share)",
        partial(test_likelihood.law_missing),
    ),
    Mutant(
        "the L1 penalty pushes through zero",
        ascent._towards_zero,
        "np.maximum(np.abs(weights) - much, 0)",
        "(np.abs(weights) - much)",
        partial(test_fitting.law_l1),
    ),
    Mutant(
        "momentum weakens the L1 penalty",
        ascent._Rule.moved,
        "size * self.l1 / (1 - self.momentum)",
        "size * self.l1",
        partial(test_fitting.law_l1, 0.8),
    ),
    Mutant(
        "the gradient norm forgets the L2 penalty",
        ascent._Rule.slope,
        "d_weights - self.penalty * model.weights",
        "d_weights",
        partial(test_fitting.law_gradient_norm),
    ),
    Mutant(
        "the gradient norm counts a weight twice",
        ascent._Rule.length,
        "d @ d / 2 +",
        "d @ d +",
        partial(test_fitting.law_gradient_norm),
    ),
    Mutant(
        "Newton forgets that parameters are over T",
        maximum_likelihood._Table.slope,
        "self.pull * theta",
        "0 * theta",
        partial(test_maximum_likelihood.law_top),
    ),
    Mutant(
        "a product with itself is not 1",
        maximum_likelihood._Table.slope,
        "self.places[:, None] ^ self.places",
        "self.places[:, None] | self.places",
        partial(test_maximum_likelihood.law_newton),
    ),
    Mutant(
        "the biases forget the fields at the means",
        maximum_likelihood._whitened,
        "- spread(weights) @ mean",
        "",
        partial(test_maximum_likelihood.law_top),
    ),
    Mutant(
        "bits are transformed from one side only",
        maximum_likelihood.transformed,
        "table.reshape(len(left), len(right)) @ right",
        "table.reshape(len(left), len(right))",
        partial(test_maximum_likelihood.law_transform),
    ),
    Mutant(
        "a checkpoint forgets the generators",
        checkpoints.Checkpoint.save,
        "[rng.bit_generator.state for rng in self.generators]",
        "[np.random.default_rng().bit_generator.state for rng in self.generators]",
        partial(in_a_folder, test_checkpoints.law_resumed),
    ),
    Mutant(
        "the file before is not kept",
        checkpoints.Checkpoint.save,
        "os.replace(self.path, self.before)",
        "os.remove(self.path)",
        partial(in_a_folder, test_checkpoints.law_torn),
    ),
    Mutant(
        "a sum is written and never read",
        checkpoints._read,
        "or sha256(body).digest() != whole[len(MARK):len(MARK) + SUM]",
        "",
        partial(in_a_folder, test_checkpoints.law_torn),
    ),
    Mutant(
        "free minus clamped",
        likelihood.gradient,
        "(clamped.corr - free.corr)",
        "(free.corr - clamped.corr)",
        partial(law.law_gradient),
    ),
    Mutant(
        "the gradient forgets T",
        likelihood.gradient,
        "(clamped.mean - free.mean) / model.temperature",
        "(clamped.mean - free.mean)",
        partial(law.law_gradient),
    ),
    Mutant(
        "the likelihood subtracts bound from like bound",
        likelihood.log_likelihood,
        "c.lower - f.upper",
        "c.lower - f.lower",
        partial(law.law_likelihood, bmlab.mean_field),
    ),
    Mutant(
        "clamped units forget their own coupling",
        model.BoltzmannMachine.clamp,
        "-values @ (across[:, units] @ values) / 2",
        "0.0",
        partial(law.law_likelihood),
    ),
    Mutant(
        "the constant between 0/1 and -1/+1 is lost",
        model.from_bits,
        "-rows.sum() / 8",
        "0.0",
        partial(test_model.check_bits_machine),
    ),
    Mutant(
        "the biases between 0/1 and -1/+1 miss the couplings",
        model.from_bits,
        "biases / 2 + rows / 4",
        "biases / 2",
        partial(test_model.check_bits_machine),
    ),
    Mutant(
        "the inverse problem has the wrong sign",
        inversion.invert_mean_field,
        "np.arctanh(mean) - weights @ mean",
        "np.arctanh(mean) + weights @ mean",
        partial(test_inversion.law_fixed_point),
    ),
    Mutant(
        "noise shrinks correlations like means",
        inversion._moments,
        "(1 - 2 * noise) ** 2",
        "(1 - 2 * noise)",
        partial(test_inversion.law_noise),
    ),
    Mutant(
        "several fixed points are no reason to doubt",
        bethe_error.weigh,
        "len(tap.points) > 1",
        "False",
        partial(test_choosing.law_doubts),
    ),
    Mutant(
        "samples have no veto", bethe_error.tested, "SURE * np.hypot", "1e9 * np.hypot", partial(test_choosing.law_veto)
    ),
    Mutant(
        "proven bounds have no veto",
        bethe_error.checked,
        "<= evidence.answer.log_z.value <=",
        "<=",
        partial(test_choosing.law_veto),
    ),
    Mutant(
        "the error of Bethe is stated without its margin",
        bethe_error.Evidence.most,
        " * np.exp(FITS[want].margin)",
        "",
        partial(test_choosing.law_foretold),
    ),
    Mutant(
        "the error of log Z does not grow with n",
        bethe_error.Evidence.error,
        "size * float",
        "float",
        partial(test_choosing.law_foretold),
    ),
    Mutant(
        "runs grow without an eye on the clock",
        choosing.grow,
        "4 if more > 16 else more",
        "4",
        partial(test_choosing.law_grow),
    ),
    Mutant(
        "log Z stays outside of its proven bounds",
        choosing._within,
        "np.clip(answer.log_z.value, proven.lower, proven.upper)",
        "answer.log_z.value",
        partial(test_choosing.law_between),
    ),
    Mutant(
        "trees of other couplings are taken over",
        tree_reweighting._fits,
        "np.array_equal(start.edges, [graph.row, graph.col])",
        "start.edges.shape[1] == len(graph.row)",
        partial(test_tree_reweighting.law_other_couplings),
    ),
    Mutant(
        "the proven bounds change sides",
        choosing._within,
        "lower=proven.lower, upper=proven.upper",
        "lower=proven.upper, upper=proven.lower",
        partial(test_choosing.law_bounds),
    ),
    Mutant(
        "the most probable values are taken for the most probable completion",
        completion._lowest,
        "ground_state(model).state",
        "np.sign(exact(model).mean)",
        partial(test_completion.law_mode),
    ),
    Mutant(
        "p(query, given) is not divided by p(given)",
        completion.conditional,
        "_answer(model, given, infer)",
        "_answer(model, 0 * given, infer)",
        partial(test_completion.law_conditional),
    ),
    Mutant(
        "what is given is forgotten beside the query",
        completion.conditional,
        "np.where(query, query, given)",
        "query",
        partial(test_completion.law_conditional),
    ),
    Mutant(
        "the missing units stand in the first places",
        completion._filled,
        "s[..., row == 0] = values",
        "s[..., :values.shape[-1]] = values",
        partial(test_completion.law_means),
    ),
    Mutant(
        "answers go to the wrong rows",
        completion._distinct,
        'np.argsort(which.ravel(), kind="stable")',
        "np.arange(len(rows))",
        partial(test_completion.law_log_p),
    ),
    Mutant(
        "dimod would maximise", interop.to_dimod, "(row, col, -w)", "(row, col, w)", partial(test_interop.law_dimod)
    ),
    Mutant(
        "0/1 variables are read as -1/+1",
        interop.from_dimod,
        'bqm.change_vartype("SPIN", inplace=False)',
        "bqm",
        partial(test_interop.law_bits),
    ),
    Mutant(
        "every coupling is handed out twice",
        interop._couplings,
        "sparse.triu(model.weights, 1).tocoo()",
        "sparse.coo_array(model.weights)",
        partial(test_interop.law_dimod),
    ),
    Mutant(
        "the inverse of TAP has the reaction backwards",
        inversion.tap_machine,
        "+ mean * (weights**2",
        "- mean * (weights**2",
        partial(test_inversion.law_response, "TAP"),
    ),
    Mutant(
        "the inverse of TAP is that of mean field",
        inversion.tap_machine,
        "1 + 8 * both * pull",
        "1 + 0 * both",
        partial(test_inversion.law_orders),
    ),
    Mutant(
        "the inverse of Bethe takes the pull for the covariance of the pair",
        inversion.bethe_machine,
        "np.sqrt(1 + 4 * pull**2 * v)",
        "1",
        partial(test_inversion.law_forests),
    ),
    Mutant(
        "the inverse of Bethe swaps the fields of a pair",
        inversion._from_beliefs,
        "a + b - c - d",
        "a - b + c - d",
        partial(test_inversion.law_forests),
    ),
    Mutant(
        "the inverse of Bethe forgets what the partners tell",
        inversion.bethe_machine,
        "np.arctanh(mean) - told.sum(1)",
        "np.arctanh(mean) - weights @ mean",
        partial(test_inversion.law_response, "Bethe"),
    ),
    Mutant(
        "pseudolikelihood asks one unit of a pair only",
        pseudolikelihood.value_and_slope,
        "weights + weights.T",
        "2 * weights",
        partial(test_pseudolikelihood.law_slope),
    ),
    Mutant(
        "pseudolikelihood's penalty has twice the value that its slope has",
        pseudolikelihood.value_and_slope,
        "penalty / 4 *",
        "penalty / 2 *",
        partial(test_pseudolikelihood.law_slope),
    ),
    Mutant(
        "pseudolikelihood's penalty is twice what fit's is",
        pseudolikelihood.value_and_slope,
        "- penalty * w[:-1]",
        "- 2 * penalty * w[:-1]",
        partial(test_pseudolikelihood.law_pair, 0.2),
    ),
    Mutant(
        "pseudolikelihood loses the factor 2 of -1/+1 units",
        pseudolikelihood._by_units,
        "t = np.tanh(h)",
        "t = np.tanh(h / 2)",
        partial(test_pseudolikelihood.law_truth),
    ),
    Mutant(
        "the coordinates of pseudolikelihood forget the means",
        pseudolikelihood._coordinates,
        " - mean @ weights",
        "",
        partial(test_pseudolikelihood.law_coordinates),
    ),
    Mutant(
        "repeated patterns count once",
        pseudolikelihood._distinct,
        "count / len(data)",
        "count**0 / len(count)",
        partial(test_pseudolikelihood.law_counts),
    ),
    Mutant(
        "a maximum at infinity passes for one",
        pseudolikelihood.best_predicting,
        "np.abs(top.moved).sum(0).max() if penalty == 0 else 0.0",
        "0.0",
        partial(test_pseudolikelihood.law_infinity),
    ),
]
