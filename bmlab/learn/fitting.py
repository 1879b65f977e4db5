"""fit(): the learning loop, drained.  It stops where it was asked to, and says why; a long run survives a crash."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple
from warnings import warn

import numpy as np

from ..estimate import NotConverged
from ..infer.exact.enumeration import exact
from ..model import BoltzmannMachine
from ..progress_bars import progress_bar, watched
from .ascent import Step, ascend
from .checkpoints import Checkpoint
from .likelihood import clamped, log_likelihood
from .pseudolikelihood import pseudo_log_likelihood


class Steps(list):
    """The steps that were kept, the last of them the answer, and why it is: `stopped`, a sentence."""

    stopped = ""

    def __repr__(self):
        return f"Steps({len(self)} kept: {self.stopped})"


class Best(NamedTuple):
    """Hold the step that did best on held-out data, its score, and how many looks ago that was."""

    score: float = -np.inf
    step: Step | None = None
    waited: int = 0


def fit(
    model: BoltzmannMachine | Step,
    data,
    infer=exact,
    *,
    steps: int,
    gradient_norm: float | None = None,
    change: float | None = None,
    held_out=None,
    patience: int = 10,
    every: int = 1,
    checkpoint=None,
    progress: bool = False,
    **loop,
) -> Steps:
    """Return the steps of ascend(model, data, infer, **loop): a list that ends where the climb has got to.

    steps           how many at most; the first is the model given
    gradient_norm, change   end where Step.gradient_norm, or Step.change, is no larger
    held_out        rows like the data: end where their mean log p(v) (where the free phase has no log Z, their mean
                    pseudolikelihood) has not risen in `patience` looks; the list then ends with the best step
    every           keep, save and look at held-out rows at every so many steps, and at the last
    checkpoint      path of a file to go on from where it exists, and to save to.  A run that was killed ends, when it
                    is called again alike, as if it had not been, to the bit; at most `every` steps are made again.
                    The list then begins where the file left off.  It is a pickle: load files of your own only
    Warns with NotConverged where `steps` end it before a gradient norm or a change that was asked for.
    Raises ValueError for a checkpoint of another run, and as ascend() does.
    """
    if steps < 1 or every < 1 or patience < 1:
        raise ValueError(f"steps, every and patience must be at least 1, found {steps}, {every} and {patience}")
    file = checkpoint and Checkpoint(checkpoint, model, data, infer, loop)
    watch = _Watch(infer, gradient_norm, change, held_out, patience, file)
    step = watch.resume() or model
    end = _number(model) + steps
    with progress_bar(progress, steps, "step") as bar:
        bar.update(_number(step) - _number(model))
        more = 0 if watch.stopped else max(0, end - _number(step))
        climb = islice(ascend(step, data, infer, **loop), more)
        for step in watched(climb, "step", more):
            if watch.sees(step) or step.loop.number % every == 0:
                watch.keep(step)
            bar.update(1)
            bar.set_postfix_str(f"gradient norm {step.gradient_norm:.2g}", refresh=False)
            if watch.stopped:
                break
    if not isinstance(step, Step):
        raise ValueError("rate has no numbers, so no step was made; pass a number, or one for each step")
    if not watch.kept or watch.kept[-1] is not step:
        watch.keep(step)
    return watch.ended(steps)


def _number(step):
    """How many steps of the loop are made."""
    return step.loop.number + 1 if isinstance(step, Step) else 0


@dataclass(eq=False)
class _Watch:
    """Hold what is kept of a climb, what it has been asked to reach, and whether it has."""

    infer: Callable
    gradient_norm: float | None
    change: float | None
    held_out: np.ndarray | None
    patience: int
    file: Checkpoint | None
    kept: Steps = field(default_factory=Steps)
    best: Best = Best()
    stopped: str = ""

    def resume(self):
        """Return the step that a file holds, or None."""
        found = self.file and self.file.load()
        if not found:
            return None
        step, self.best = found
        self.kept.append(step)
        self.sees(step)
        self._tire()
        return step

    def sees(self, step):
        """Whether the step has reached what was asked for."""
        for name in ("gradient_norm", "change"):
            asked, found = getattr(self, name), getattr(step, name)
            if asked is not None and found <= asked:
                self.stopped = f"{name} {found:.2g}, asked for {asked:g}, at step {step.loop.number}"
        return bool(self.stopped)

    def keep(self, step):
        """Keep a step, look at the held-out data with it, and save it."""
        self.kept.append(step)
        if self.held_out is not None:
            score = _score(step, self.held_out, self.infer)
            better = score > self.best.score
            self.best = Best(score, step) if better else self.best._replace(waited=self.best.waited + 1)
            self._tire()
        if self.file:
            self.file.save(step, self.best)

    def _tire(self):
        if self.best.waited >= self.patience:
            self.stopped = (
                f"held-out data did best at step {self.best.step.loop.number}, {self.best.score:.4f} nats, "
                f"and no better in {self.best.waited} looks"
            )

    def ended(self, steps):
        """Return the steps that were kept, the best one last; warn where what was asked for was not reached."""
        asked = {name: getattr(self, name) for name in ("gradient_norm", "change") if getattr(self, name) is not None}
        if asked and not self.stopped:
            found = ", ".join(
                f"{name} {getattr(self.kept[-1], name):.2g} where {x:g} was asked for" for name, x in asked.items()
            )
            warn(
                f"fit() ended after {steps} steps with {found}; raise steps, or use maximize().",
                NotConverged,
                stacklevel=3,
            )
        self.kept.stopped = self.stopped or "all steps were made"
        best = self.best.step
        if best is not None:
            self.kept[:] = [s for s in self.kept if s.loop.number < best.loop.number] + [best]
        return self.kept


def _score(step, held_out, infer):
    """Mean log p of the held-out rows, or their pseudolikelihood where the free phase has no log Z."""
    if np.isnan(step.free.log_z.value):
        return pseudo_log_likelihood(step.model, held_out)
    return log_likelihood(clamped(step.model, held_out, infer), step.free).value
