"""bmlab: inference and learning of Boltzmann machines, with an error for every number.

    machine = bmlab.sherrington_kirkpatrick(10, rng=np.random.default_rng(0))
    bmlab.exact(machine)                      # an Estimate: mean, corr, log_z
    bmlab.mean_field(machine)                 # the same record, from another method

A method is a callable  model -> Estimate.  bmlab.CORE lists the names that notebooks 00 to 05b use; the other names
are further methods, bounds, samplers, learners and converters.  bmlab.plot draws, bmlab.data has real data,
bmlab.estimators is for scikit-learn, bmlab.widgets for notebooks.
"""

from importlib import import_module

from . import data, plain
from ._version import __version__
from .checking.arrays import bits, spins, states, symmetric
from .checking.arrays import did_you_mean as _did_you_mean
from .choosing import auto
from .estimate import Bounded, Estimate, Method, NotConverged
from .infer.bounds.bracketing import Bracket, bracket
from .infer.bounds.tree_reweighting import trw
from .infer.exact.dispatch import entropy, exact
from .infer.exact.exact_sampling import probabilities, sample
from .infer.exact.ground_states import GroundState, LowestStates, ground_state, lowest_states
from .infer.exact.planning import Plan, exact_plan
from .infer.sampling.annealed_importance import ais
from .infer.sampling.annealing import Annealed, anneal
from .infer.sampling.combining import combine
from .infer.sampling.gibbs import gibbs, sweep
from .infer.sampling.tempering import TemperingState, temper
from .infer.sampling.visited import visited
from .infer.variational.belief_propagation import bethe
from .infer.variational.cooling import temperature_path
from .infer.variational.naive_mean_field import free_energy, mean_field
from .infer.variational.tap_equations import tap
from .interop import from_bits, from_dimod, from_tables, to_bits, to_dimod
from .learn.ascent import learning_steps
from .learn.clamped_batches import clamped_gibbs, clamped_mean_field
from .learn.completion import Completion, complete, conditional
from .learn.contrastive_divergence import pcd
from .learn.fitting import fit
from .learn.inversion import invert_bethe, invert_mean_field, invert_tap
from .learn.likelihood import clamped, gradient, log_likelihood, log_prob
from .learn.maximum_likelihood import maximize
from .learn.observations import Moments, moments
from .learn.penalties import PenaltyPath, penalty_path
from .learn.pseudolikelihood import pseudo_log_likelihood, pseudolikelihood
from .learn.record import Fit, Step
from .learn.standard_errors import StandardErrors, standard_errors
from .learn.triplets import Triplets, triplets
from .learn.two_sample_test import TwoSampleTest, two_sample_test
from .machines import hopfield, ising, medium, restricted, sherrington_kirkpatrick, toy
from .methods import METHODS
from .model import BoltzmannMachine, load
from .running.parallel import workers
from .running.progress_bars import progress
from .showing.introspection import about, show_source

# Core: the names that notebooks 00 to 05b use, and the records that they return.
__all__ = [
    "BoltzmannMachine",
    "Bounded",
    "Estimate",
    "Fit",
    "Method",
    "NotConverged",
    "Step",
    "__version__",
    "auto",
    "bethe",
    "clamped",
    "conditional",
    "data",
    "exact",
    "exact_plan",
    "fit",
    "free_energy",
    "gibbs",
    "gradient",
    "invert_mean_field",
    "ising",
    "learning_steps",
    "log_likelihood",
    "log_prob",
    "maximize",
    "mean_field",
    "medium",
    "plain",
    "probabilities",
    "pseudo_log_likelihood",
    "pseudolikelihood",
    "restricted",
    "sample",
    "sherrington_kirkpatrick",
    "show_source",
    "states",
    "sweep",
    "tap",
    "toy",
    "visited",
]
CORE = tuple(__all__)
# Further: names for the other notebooks and for research.
__all__ += [
    "Annealed",
    "Bracket",
    "Completion",
    "GroundState",
    "LowestStates",
    "Moments",
    "PenaltyPath",
    "Plan",
    "StandardErrors",
    "TemperingState",
    "Triplets",
    "TwoSampleTest",
    "about",
    "ais",
    "anneal",
    "bits",
    "bracket",
    "clamped_gibbs",
    "clamped_mean_field",
    "combine",
    "complete",
    "entropy",
    "from_bits",
    "from_dimod",
    "from_tables",
    "ground_state",
    "hopfield",
    "invert_bethe",
    "invert_tap",
    "load",
    "lowest_states",
    "moments",
    "pcd",
    "penalty_path",
    "progress",
    "spins",
    "standard_errors",
    "symmetric",
    "temper",
    "temperature_path",
    "to_bits",
    "to_dimod",
    "triplets",
    "trw",
    "two_sample_test",
    "workers",
]
__all__ += [name for name in METHODS if name not in __all__]  # methods that are imported above and listed nowhere else

LAZY_MODULES = ("estimators", "plot", "widgets")  # imported at first use: each needs a large library
# a name in other libraries -> what to type here
FUNCTION_SYNONYMS = {"RBM": "bmlab.restricted(weights, visible_biases, hidden_biases)"}


def __getattr__(name: str):
    if name in LAZY_MODULES:
        return import_module(f"{__name__}.{name}")
    meant = _did_you_mean(name, (*__all__, *LAZY_MODULES), "see dir(bmlab)")
    way_out = f"try {FUNCTION_SYNONYMS[name]}" if name in FUNCTION_SYNONYMS else meant
    raise AttributeError(f"bmlab has no {name!r}; {way_out}")


def __dir__() -> list[str]:
    return sorted([*__all__, *LAZY_MODULES])
