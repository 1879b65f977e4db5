"""Drawings.  Each function draws what it is given on the Axes it is given, returns that Axes, and computes nothing.

One colour a method, the same in every notebook and readable by colour-blind people (Okabe and Ito 2008); each
method has its own marker too, so that nothing is lost in grey.  show() says in words what a figure shows.
"""

import re
from collections import Counter

import numpy as np
from scipy import sparse

COLOURS = {
    "exact": "black",
    "gibbs": "#0072B2",
    "mean field": "#D55E00",
    "tap": "#009E73",
    "bethe": "#CC79A7",
    "temper": "#56B4E9",
    "ais": "#882255",
    "visited": "#999933",
    "trw": "#E69F00",
    "data": "#777777",
}
MARKERS = {
    "exact": "o",
    "gibbs": "s",
    "mean field": "^",
    "tap": "D",
    "bethe": "v",
    "temper": "P",
    "ais": "*",
    "visited": ">",
    "trw": "<",
    "data": "x",
}
DASHES = ("-", "--", ":", "-.", (0, (1, 4)), (0, (6, 2, 1, 2, 1, 2)))


def show(alt):
    """Show the current figure and close it; alt says in words what it shows, for those who hear it instead.

    A notebook stores the words with the picture; `jupyter nbconvert --template classic` puts them into its page.
    """
    import matplotlib.pyplot as plt

    if "inline" not in plt.get_backend():
        plt.show()
        return
    from IPython.display import display

    display(plt.gcf(), metadata={"image/png": {"alt": alt}})
    plt.close()


def curves(x, lines, ax, **labels):
    """Draw each y of `lines`, {name: y}, over x; the other keywords are those of ax.set: xlabel, ylabel, xscale, ...

    A line whose name begins with that of a method has its colour and marker, any other is black; a second line of the
    same colour is dashed.
    """
    drawn = Counter()
    for name, y in lines.items():
        method = next((known for known in COLOURS if re.match(rf"{known}\b", name)), None)
        colour = COLOURS.get(method, "black")
        ax.plot(
            x,
            y,
            label=name,
            color=colour,
            linestyle=DASHES[drawn[colour] % len(DASHES)],
            marker=MARKERS.get(method),
            markersize=4,
            markevery=-(-len(x) // 12),
        )
        drawn[colour] += 1
    ax.set(**labels)
    ax.legend(frameon=False)
    return ax


def energy_levels(energies, probabilities, ax, labels=None):
    """Draw each state as a line at its energy, as long as it is probable: energies and probabilities (states,)."""
    ax.hlines(energies, 0, probabilities, color=COLOURS["exact"], linewidth=2)
    ax.plot(probabilities, energies, "o", color=COLOURS["exact"], markersize=4)
    together = {}
    for place, text in zip(zip(probabilities, energies), labels if labels is not None else []):
        together.setdefault(tuple(np.round(place, 9)), []).append(text)
    for place, texts in together.items():
        ax.annotate(
            ",  ".join(texts),
            place,
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            family="monospace",
        )
    ax.set(xlabel="probability p(s)", ylabel="energy E(s)", xlim=(0, 1.35 * np.max(probabilities)))
    return ax


def moments(reference, estimate, ax):
    """Draw the means and correlations of one Estimate against those of another, with bars of 2 stderr."""
    pairs = _known_pairs(estimate.corr)
    known, found = _dense(reference.corr)[pairs], _dense(estimate.corr)[pairs]
    error = np.broadcast_to(_dense(estimate.corr_stderr), estimate.corr.shape)[pairs]
    colour = COLOURS.get(estimate.method, "black")
    ax.axline((0, 0), slope=1, color="0.6", linewidth=1, zorder=0)
    _points(ax, known, found, error, colour, "s", "correlations")
    _points(ax, reference.mean, estimate.mean, estimate.mean_stderr, colour, "o", "means", markerfacecolor="white")
    ax.set(xlabel=f"{reference.method or 'reference'}", ylabel=f"{estimate.method}")
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(frameon=False)
    _mark_convergence(estimate, ax)
    return ax


def learning(steps, ax, what="log_likelihood", label=None):
    """Draw the log-likelihood, or what="mismatch", of each Step against its number."""
    values = [s.mismatch if what == "mismatch" else s.log_likelihood.value for s in steps]
    method = steps[-1].free.method
    ax.plot(values, color=COLOURS.get(method, "black"), label=label or method)
    ax.set(xlabel="step", ylabel="largest moment mismatch" if what == "mismatch" else "log-likelihood (nats a pattern)")
    return ax


def log_z(estimates, ax):
    """Draw log Z of several Estimates of one machine: points with 2 stderr, and what is proven as a thick bar."""
    for row, estimate in enumerate(estimates):
        z = estimate.log_z
        colour = COLOURS.get(estimate.method, "black")
        ax.errorbar(z.value, row, xerr=2 * z.stderr, color=colour, fmt=MARKERS.get(estimate.method, "o"), capsize=3)
        _proven(ax, row, z.value, z.lower, z.upper, colour)
    ax.set(xlabel="log Z (nats)", yticks=range(len(estimates)), ylim=(len(estimates) - 0.5, -0.5))
    ax.set_yticklabels([e.method + ("" if e.converged else " (not converged)") for e in estimates])
    return ax


def bracket(proven, estimates, ax):
    """Draw where a Bracket proves log Z to lie, as a grey band, and the answers of several Estimates beside it."""
    log_z(estimates, ax)
    lower, upper = proven.log_z.lower, proven.log_z.upper
    ax.axvspan(lower, upper, color="0.88", zorder=0)
    for end, name, side in ((lower, proven.lower_by, "right"), (upper, proven.upper_by, "left")):
        ax.axvline(end, color="0.5", linewidth=1, zorder=0)
        ax.annotate(f" {name} ", (end, 1), xycoords=("data", "axes fraction"), ha=side, va="bottom", color="0.3")
    return ax


def weights(matrix, ax, labels=None):
    """Draw a matrix of weights (n, n): orange pulls together, purple pushes apart, white is no coupling.

    Up to 20 units the sign of a weight is written on it, unless it is faint (below a fifth of the largest).
    """
    matrix = _dense(matrix)
    limit = np.abs(matrix).max() or 1.0
    for (i, j), w in np.ndenumerate(matrix if len(matrix) <= 20 else matrix[:0]):
        if abs(w) >= limit / 5:
            ax.text(
                j,
                i,
                "+" if w > 0 else "\u2212",
                ha="center",
                va="center",
                color="white" if abs(w) > 0.7 * limit else "black",
            )
    image = ax.imshow(matrix, cmap="PuOr_r", vmin=-limit, vmax=limit)
    ax.figure.colorbar(image, ax=ax, label="weight", shrink=0.8)
    ticks = range(len(labels)) if labels is not None else []
    ax.set_xticks(ticks, labels if labels is not None else [], rotation=90)
    ax.set_yticks(ticks, labels if labels is not None else [])
    return ax


def images(rows, ax, shape=None, columns=10, limit=1.0):
    """Draw rows (N, pixels) as a sheet of small images, `columns` in a line; -limit is white, +limit black."""
    rows = np.atleast_2d(rows)
    height, width = shape or (int(np.sqrt(rows.shape[1])),) * 2
    columns = min(columns, len(rows))
    lines = -(-len(rows) // columns)
    sheet = np.full((lines, columns, height + 1, width + 1), np.nan)
    sheet.reshape(-1, height + 1, width + 1)[: len(rows), :height, :width] = rows.reshape(-1, height, width)
    ax.imshow(
        sheet.swapaxes(1, 2).reshape(lines * (height + 1), columns * (width + 1))[:-1, :-1],
        cmap="gray_r",
        vmin=-limit,
        vmax=limit,
        interpolation="nearest",
    )
    ax.set_axis_off()
    return ax


def confusion(counts, ax, labels):
    """Draw a table of counts (true class, answer), the diagonal left pale so that the mistakes stand out."""
    counts = np.asarray(counts)
    wrong = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    ax.imshow(wrong, cmap="Oranges", vmin=0, vmax=max(1, wrong.max() * 1.5))
    for (i, j), count in np.ndenumerate(counts):
        ax.text(j, i, count or "", ha="center", va="center", color="0.55" if i == j else "black", fontsize=9)
    ax.set_xticks(range(len(labels)), labels)
    ax.set_yticks(range(len(labels)), labels)
    ax.set(xlabel="answer", ylabel="true class")
    return ax


def replicas(estimate, ax, moments=200):
    """Draw the energies of temper()'s replicas, coloured by temperature, at the first `moments` of those it kept.

    The line follows one replica.  It should wander between the blue end and the red one: a round trip is a fresh draw.
    """
    energies, rungs = (estimate.info[name][:moments] for name in ("energies", "rungs"))
    time = np.broadcast_to(np.arange(len(energies))[:, None], energies.shape)
    dots = ax.scatter(time, energies, c=rungs, cmap="coolwarm", s=6, linewidths=0)
    ax.plot(energies[:, 0], color="black", linewidth=0.8)
    temperatures = estimate.info["temperatures"]
    bar = ax.figure.colorbar(dots, ax=ax, label="temperature")
    bar.set_ticks(range(len(temperatures)), labels=[f"{t:.3g}" for t in temperatures])
    ax.set(xlabel="moment", ylabel="energy E(s)")
    _mark_convergence(estimate, ax)
    return ax


def _dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def _known_pairs(corr):
    """Indices of the pairs above the diagonal that a method answered: of a sparse array, those on the couplings."""
    known = _dense(corr != 0) if sparse.issparse(corr) else np.ones(corr.shape, bool)
    return np.nonzero(np.triu(known, 1))


def _points(ax, x, y, error, colour, marker, label, **style):
    ax.errorbar(
        x,
        y,
        yerr=2 * np.broadcast_to(error, np.shape(y)),
        fmt=marker,
        color=colour,
        markersize=4,
        linewidth=1,
        label=label,
        **style,
    )


def _proven(ax, row, value, lower, upper, colour):
    """A thick bar where both ends are proven, an arrow from the one end that is."""
    if np.isfinite([lower, upper]).all():
        ax.plot([lower, upper], [row, row], color=colour, linewidth=5, alpha=0.3, solid_capstyle="butt")
    elif np.isfinite(lower) or np.isfinite(upper):
        ax.annotate(
            "",
            (value, row),
            xytext=(30 if np.isfinite(lower) else -30, 0),
            textcoords="offset points",
            arrowprops={"arrowstyle": "<-", "color": colour},
        )


def _mark_convergence(estimate, ax):
    if not estimate.converged:
        ax.set_title("NOT CONVERGED", color="#D55E00", fontsize=10)
