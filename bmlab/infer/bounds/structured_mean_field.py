"""Structured mean field: the best distribution q whose couplings form one spanning tree; a lower bound on log Z.

    q(s) = q(s_0) prod_t q(s_t | s_p(t)),       <s_t> given s_p = -1/+1:  e_t + r_t s_p

    log Z  >=  <J-part + b-part>_q + S(q)                        (J, b in units of T; Jensen, as in naive_mean_field.py)

Products are the case r = 0.  With places counted from the root, all means and covariances follow:

    m_t = e_t + r_t m_p,     C_tt = 1 - m_t^2,     C_ti = r_t C_pi  for i before t,

and the entropy is S = H(m_0) + sum_t sum_{s = -1, +1} (1 + s m_p)/2 H(e_t + s r_t).  The gradient is found by reverse
differentiation.  Saul and Jordan (1996), NIPS 8, 486; Wainwright and Jordan (2008), Found. Trends Mach. Learn.
1, sec. 5.5.
"""

import numpy as np
import scipy

from ...model import BoltzmannMachine, with_offset
from ...running.threads import one_thread
from ..variational.belief_propagation import graph_of
from .spanning_trees import best_tree

TREE_STEPS = 200  # of SciPy's optimiser; the bound holds after each step


def tree_mean_field(model: BoltzmannMachine, m: np.ndarray, max_steps: int = TREE_STEPS) -> float:
    """Return the lower bound by the tree of the strongest couplings, starting from the means m (n,) of mean field.

    Proven up to rounding, after each of at most `max_steps` steps.  A step costs n operations on vectors of n.
    """
    graph = graph_of(model)
    tree = best_tree(model, graph, -np.abs(graph.j) - 1e-300)
    unit, parent = tree.unit, tree.parent_place
    j = model.dense_weights[unit][:, unit] / model.temperature
    b, m = model.biases[unit] / model.temperature, np.asarray(m)[unit]
    with_parent = j[np.arange(model.n), parent]  # 0 at the root
    others = j @ m + b - with_parent * m[parent]
    start = np.concatenate([others + with_parent, others - with_parent])

    with one_thread():
        found = scipy.optimize.minimize(
            lambda x: _minus_bound(x, j, b, parent), start, jac=True, method="L-BFGS-B", options={"maxiter": max_steps}
        )
    return float(with_offset(model, -found.fun))


def _minus_bound(x, j, b, parent):
    """Return minus the bound and its gradient; x (2n,) is atanh(e + r), then atanh(e - r)."""
    n = len(b)
    x = x.reshape(2, n)
    up, down = np.tanh(x)
    e, r = (up + down) / 2, (up - down) / 2
    e[0], r[0] = up[0], 0
    m, c = _moments(e, r, parent)
    entropy = _entropy(np.tanh(x))
    chance = np.array([1 + m[parent], 1 - m[parent]]) / 2  # p(+1) and p(-1) of the parent
    chance[:, 0] = 1, 0
    bound = ((c + np.outer(m, m)) * j).sum() / 2 + b @ m + (chance * entropy).sum()
    d_e, d_r = _back(j @ m + b, j.copy(), (entropy[0] - entropy[1]) / 2, m, c, r, parent)
    d_up_down = np.array([d_e + d_r, d_e - d_r]) / 2
    d_up_down[:, 0] = d_e[0], 0
    return -bound, -((d_up_down - chance * x) * (1 - np.tanh(x) ** 2)).ravel()


def _moments(e, r, parent):
    m, c = e.copy(), np.zeros((len(e), len(e)))
    for t, p in enumerate(parent):
        if t:
            m[t] += r[t] * m[p]
            c[t, :t] = c[:t, t] = r[t] * c[p, :t]
        c[t, t] = 1 - m[t] ** 2
    return m, c


def _back(d_m, d_c, d_chance, m, c, r, parent):
    """Turn derivatives by m and c into those by e and r, from the leaves to the root."""
    d_r = np.zeros(len(m))
    for t in range(len(m) - 1, 0, -1):
        p, here = parent[t], d_c[t, :t]
        d_r[t] = here @ c[p, :t] + d_m[t] * m[p]
        d_m[p] += r[t] * (d_m[t] - 2 * m[p] * here[p]) + d_chance[t]
        passed_on = r[t] * here
        passed_on[p] = 0
        d_c[p, :t] += passed_on
        d_c[:t, p] += passed_on
    return d_m, d_r


def _entropy(mean):
    return scipy.special.entr((1 + mean) / 2) + scipy.special.entr((1 - mean) / 2)
