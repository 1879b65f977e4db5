"""The classic bugs.  Each is one edit of the package's source; tests/test_mutants.py shows that a law catches it."""
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import test_annealing
import test_contract as law
import test_inversion
import test_model
import test_perfect_sampling
import test_replica_exchange
import test_roads
import test_simulated_annealing
import test_visited_states

import bmlab
from bmlab import model
from bmlab.infer import (
    annealing,
    averages,
    chains,
    enumeration,
    gibbs_sampling,
    naive_mean_field,
    replica_exchange,
    simulated_annealing,
    three_products,
    two_tables,
    variable_elimination,
    vertex_cover,
    visited_states,
)
from bmlab.learn import inversion, phases


class Mutant(NamedTuple):
    """Hold one bug: an edit of a function, and the law that must notice."""

    name: str
    function: Callable      # where the bug is put
    old: str                # stands in its source exactly once
    new: str
    law: partial            # raises AssertionError when the bug is in


MUTANTS = [
    Mutant("the factor 2 of -1/+1 units is lost", gibbs_sampling.sweep,
           "2 * h / model.temperature", "h / model.temperature", partial(law.law_invariance)),
    Mutant("the sampler ignores T", gibbs_sampling.sweep,
           "2 * h / model.temperature", "2 * h", partial(law.law_invariance)),
    Mutant("the sampler forgets its biases", gibbs_sampling.sweep,
           " + model.biases[i]", "", partial(law.law_invariance)),
    Mutant("all units of a block are updated at once", chains._NumpyEngine._update,
           "inner[r, :r] @ flips[:r]", "0.0", partial(law.law_invariance, law.SAMPLERS["NumPy, sequential"])),
    Mutant("a doubtful draw is decided by a coin", chains._NumpyEngine._choose,
           "whole.flat[doubt] + digits < p.flat[doubt]", "digits < 0.5",
           partial(law.law_invariance, law.SAMPLERS["NumPy, sequential"])),
    Mutant("Metropolis accepts by the energy of one unit alone", chains.chance_of_plus,
           "np.minimum(-s * x, 0)", "np.minimum(-s * x / 2, 0)",
           partial(law.law_invariance, law.SAMPLERS["NumPy, Metropolis"])),
    Mutant("the engines read the random stream in different orders", chains._NumpyEngine._choose,
           "place + row", "place - row", partial(law.law_engines_agree, bmlab.ising((10, 10)).at(2.3), 1000)),
    Mutant("sweeps are taken for independent draws", averages.mean_and_stderr,
           "np.sqrt(spread * count / (count - 1))", "np.sqrt((1 - mean**2) / (64 * 40))",
           partial(law.law_coverage, law.correlated_chains)),
    Mutant("the standard error lacks its 1/sqrt(chains)", averages.mean_and_stderr,
           "spread * count /", "spread * count**2 /", partial(law.law_coverage, law.correlated_chains)),
    Mutant("duplicates are counted in the visited sum", visited_states.together,
           "np.unique(key, return_index=True, return_inverse=True)", "key, np.arange(len(key)), np.arange(len(key))",
           partial(test_visited_states.law_once)),
    Mutant("the visited sum forgets T", visited_states.log_sum,
           "seen.energy / model.temperature", "seen.energy", partial(test_visited_states.law_bound)),
    Mutant("the visited sum drops the offset", visited_states.distinct,
           "model.energy(s)", "model.energy(s) - model.offset", partial(test_visited_states.law_bound)),
    Mutant("log Z of the start is forgotten", annealing.ais,
           "_first_log_z(model, first) + sum", "sum", partial(test_annealing.law_uncoupled)),
    Mutant("n ln 2 is forgotten in AIS", annealing._log_2cosh,
           "return size + np.log(1 + np.exp(-2 * size))", "return size + np.log((1 + np.exp(-2 * size)) / 2)",
           partial(test_annealing.law_uncoupled)),
    Mutant("annealing drops the offset", annealing._first_log_z,
           " - model.offset / model.temperature", "", partial(test_annealing.law_uncoupled)),
    Mutant("annealed chains ignore T", annealing._anneal,
           "np.full_like(chains.beta, high / temperature)", "np.full_like(chains.beta, high)",
           partial(test_annealing.law_unbiased)),
    Mutant("the weights ignore T", annealing._anneal,
           "(high - low) / (2 * temperature)", "(high - low) / 2", partial(test_annealing.law_unbiased)),
    Mutant("the weight is taken after the sweep", annealing._anneal, "r = chains.s.astype(float)",
           "chains.beta, chains.biases = np.full_like(chains.beta, high / temperature), (rest + first / high)[:, 0]; "
           "chains.sweep(); r = chains.s.astype(float)", partial(test_annealing.law_unbiased)),
    Mutant("the class summed over is swept last", annealing._anneal, "chains.classes[0]", "chains.classes[-1]",
           partial(test_annealing.law_unbiased, test_annealing.MACHINES["restricted"])),
    Mutant("the start's biases fade with the couplings", annealing._anneal,
           "first / high", "first", partial(test_annealing.law_unbiased)),
    Mutant("swaps go the wrong way", replica_exchange.swap_chance,
           "np.diff(beta) * np.diff(energies)", "-np.diff(beta) * np.diff(energies)",
           partial(test_replica_exchange.law_detailed_balance)),
    Mutant("n ln 2 is forgotten in temper", replica_exchange.Tally.log_z,
           "self.replicas.model.n * np.log(2) + total.sum()", "total.sum()", partial(test_replica_exchange.law_log_z)),
    Mutant("log Z is left to the trapezoid rule", replica_exchange.Tally.log_z,
           "np.log(hot.mean(0) / cold.mean(0)) - self.step", "-self.step", partial(test_replica_exchange.law_coverage)),
    Mutant("temperatures stay where they were after a swap", replica_exchange.Replicas.sweeps,
           "self.chains.beta[self.at] = self.beta", "self.chains.beta[:] = np.tile(self.beta, len(self.at))",
           partial(test_replica_exchange.law_log_z)),
    Mutant("the errors of the parts of log Z are averaged, not added", replica_exchange.Tally.log_z,
           "noise.sum(1)", "noise.mean(1)", partial(test_replica_exchange.law_coverage)),
    Mutant("annealing keeps the last state, not the best", simulated_annealing.annealed,
           "now < energies", "now < np.inf", partial(test_simulated_annealing.law_best_of_the_walk)),
    Mutant("annealing takes T for 1/T", simulated_annealing.annealed,
           "1 / temperature", "temperature", partial(test_simulated_annealing.law_best_of_the_walk)),
    Mutant("exact ignores T", two_tables.sum_by_tables,
           "q /= model.temperature", "q /= 1", partial(law.law_temperature, bmlab.exact)),
    Mutant("the offset of clamped units is dropped", enumeration._estimate,
           "log_z - model.offset / model.temperature", "log_z", partial(law.law_referee, bmlab.exact)),
    Mutant("the offset forgets T", enumeration._estimate,
           "model.offset / model.temperature", "model.offset", partial(law.law_temperature, bmlab.exact)),
    Mutant("a face of the triangle is not turned", three_products._tiles,
           "right[:, tile].T @ left.T", "left[tile] @ right", partial(law.law_referee, bmlab.exact)),
    Mutant("the largest entry of a face is not put back", three_products._faces,
           "log_scale += top", "log_scale += 0", partial(law.law_referee, bmlab.exact)),
    Mutant("n ln 2 is forgotten", enumeration._by_product,
           "np.logaddexp(field, -field).sum()", "np.log(np.cosh(field)).sum()",
           partial(law.law_no_weights, bmlab.exact)),
    Mutant("the listed units are summed without the others", vertex_cover._alone,
           "log_sum = size.sum(0)", "log_sum = 0 * size.sum(0)", partial(test_roads.law_listed)),
    Mutant("a tile forgets how the sum was scaled", vertex_cover.sum_listed,
           "total = total * fade", "total = total", partial(test_roads.law_listed)),
    Mutant("a message forgets T", variable_elimination.eliminate,
           "/ model.temperature", "", partial(test_roads.law_elimination)),
    Mutant("the way back forgets the parent", variable_elimination.hand_back,
           "_marginal(tables[parent], [scope[0], *order.scopes[parent]], scope)",
           "np.full((2,) * len(scope), 0.5 ** len(scope))",
           partial(test_roads.law_elimination)),
    Mutant("perfect samples take the third group on its own", three_products.draw_by_products,
           "(bc[b[k]] * ca[:, a[k]])", "bc[b[k]]", partial(test_perfect_sampling.law_samples, "three products")),
    Mutant("perfect samples turn the odds round", variable_elimination.draw,
           "expit(table[given])", "expit(-table[given])", partial(test_perfect_sampling.law_samples, "elimination")),
    Mutant("mean field counts each coupling twice", naive_mean_field.free_energy,
           "model.energy(m)", "2 * model.energy(m) + model.biases @ m - model.offset",
           partial(law.law_bounds, bmlab.mean_field)),
    Mutant("the diagonal is in the mean-field energy", naive_mean_field.free_energy,
           "model.energy(m)", "model.energy(m) - m @ m", partial(law.law_bounds, bmlab.mean_field)),
    Mutant("the entropy is forgotten", naive_mean_field.free_energy,
           "- model.temperature * entropy", "", partial(law.law_no_weights, bmlab.mean_field)),
    Mutant("the entropy forgets T", naive_mean_field.free_energy,
           "model.temperature * entropy", "entropy", partial(law.law_temperature, bmlab.mean_field)),
    Mutant("the response has the wrong sign", naive_mean_field._response,
           "np.eye(model.n) - np.outer", "np.eye(model.n) + np.outer", partial(law.law_weak_weights, bmlab.mean_field)),
    Mutant("correlations are taken for products of means", naive_mean_field._response,
           "np.outer(root, root) * np.linalg.inv(curvature) + np.outer(m, m)", "np.outer(m, m)",
           partial(law.law_weak_weights, bmlab.mean_field)),
    Mutant("hidden pairs are averaged as if independent", phases._put_hidden,
           "pairs[visible:, visible:] = hidden", "hidden", partial(law.law_gradient)),
    Mutant("the clamped phase averages hidden units before it multiplies", phases._closed_form,
           "np.tanh(f)]", "0 * f + np.tanh(f).mean(0)]", partial(law.law_gradient, False)),
    Mutant("rare patterns count as much as common ones", phases._pattern_by_pattern,
           "share = count / len(data)", "share = np.full(len(count), 1 / len(count))", partial(law.law_gradient)),
    Mutant("free minus clamped", phases.gradient,
           "(clamped.corr - free.corr)", "(free.corr - clamped.corr)", partial(law.law_gradient)),
    Mutant("the gradient forgets T", phases.gradient,
           "(clamped.mean - free.mean) / model.temperature", "(clamped.mean - free.mean)", partial(law.law_gradient)),
    Mutant("the likelihood subtracts bound from like bound", phases.log_likelihood,
           "c.lower - f.upper", "c.lower - f.lower", partial(law.law_likelihood, bmlab.mean_field)),
    Mutant("clamped units forget their own coupling", model.BoltzmannMachine.clamp,
           "-values @ (across[:, units] @ values) / 2", "0.0", partial(law.law_likelihood)),
    Mutant("the constant between 0/1 and -1/+1 is lost", model.from_bits,
           "-rows.sum() / 8", "0.0", partial(test_model.check_bits_machine)),
    Mutant("the biases between 0/1 and -1/+1 miss the couplings", model.from_bits,
           "biases / 2 + rows / 4", "biases / 2", partial(test_model.check_bits_machine)),
    Mutant("the inverse problem has the wrong sign", inversion.invert_mean_field,
           "np.arctanh(mean) - weights @ mean", "np.arctanh(mean) + weights @ mean",
           partial(test_inversion.law_fixed_point)),
    Mutant("noise shrinks correlations like means", inversion._moments,
           "(1 - 2 * noise) ** 2", "(1 - 2 * noise)", partial(test_inversion.law_noise)),
]
