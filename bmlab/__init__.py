"""bmlab: Boltzmann machines, exact where others give up, and honest about the error of every number.

    machine = bmlab.sherrington_kirkpatrick(10, np.random.default_rng(0))
    bmlab.exact(machine)                      # an Estimate: mean, corr, log_z
    bmlab.mean_field(machine)                 # the same record, from another method

A method is a callable  model -> Estimate.  Drawing is in bmlab.plot, real data in bmlab.data.
"""

from . import data
from .arrays import bits, spins, states
from .bars import progress
from .estimate import Estimate, LogZ, NotConverged
from .infer.annealing import ais
from .infer.belief_propagation import bethe
from .infer.bracketing import Bracket, bracket
from .infer.choosing import auto
from .infer.descent import cooled
from .infer.enumeration import entropy, exact
from .infer.gibbs_sampling import gibbs, sweep
from .infer.naive_mean_field import free_energy, mean_field
from .infer.perfect_sampling import ground_state, probabilities, sample
from .infer.planning import plan
from .infer.replica_exchange import temper
from .infer.simulated_annealing import annealed
from .infer.tap_equations import tap
from .infer.tree_reweighting import trw
from .infer.visited_states import visited
from .interop import from_dimod, from_networkx, to_dimod, to_networkx
from .introspection import about, show
from .learn.ascent import Step, ascend
from .learn.completion import Completion, Probability, complete, conditional
from .learn.contrastive_divergence import pcd
from .learn.fitting import fit
from .learn.inversion import invert_bethe, invert_mean_field, invert_tap
from .learn.maximum_likelihood import maximize
from .learn.maximum_pseudolikelihood import pseudolikelihood
from .learn.phases import clamped, gradient, log_likelihood
from .learn.pseudo_score import pseudo_log_likelihood
from .learn.side_by_side import clamped_gibbs, clamped_mean_field
from .makers import hopfield, ising, medium, restricted, sherrington_kirkpatrick, toy
from .model import BoltzmannMachine, from_bits, load, symmetric

__all__ = ["BoltzmannMachine", "Bracket", "Completion", "Estimate", "LogZ", "NotConverged", "Probability", "Step",
           "about", "ais", "annealed", "ascend", "auto", "bethe", "bits", "bracket", "clamped", "clamped_gibbs",
           "clamped_mean_field", "complete", "conditional", "cooled", "data", "entropy", "exact", "fit",
           "free_energy", "from_bits", "from_dimod", "from_networkx", "gibbs", "gradient", "ground_state", "hopfield",
           "invert_bethe", "invert_mean_field", "invert_tap", "ising", "load", "log_likelihood", "maximize",
           "mean_field", "medium", "pcd", "plan", "probabilities", "progress", "pseudo_log_likelihood",
           "pseudolikelihood", "restricted", "sample", "sherrington_kirkpatrick", "show", "spins", "states", "sweep",
           "symmetric", "tap", "temper", "to_dimod", "to_networkx", "toy", "trw", "visited"]
