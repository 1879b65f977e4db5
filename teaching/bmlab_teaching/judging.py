"""Run a submission: its cells in one sandbox, the tests in another, in which no code of the submission ever ran.

The values of an answer are carried over as data, and a function is called through this process, which reads nothing.
If the submission's process ends, it is started again without the cell that ended it: five such cells cost no other.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

from .course import SHOWN, Handout
from .keeping import with_kept
from .matching import Plan
from .sandbox import Ended, Limits, Sandbox
from .slicing import names

AGAIN = 5  # times that a submission's process is started again
NOT_TO_ITS_END = "this cell was not executed, or not to its end: {}"
Verdict = dict[str, Any]  # of a check: whether it is passed, else the kind of failure, and a message, never ""


def failed(kind: object, words: object) -> Verdict:
    """The record of a failure, for a student to read."""
    kind, words = str(kind), str(words)
    if not words or kind not in ("AssertionError", "TimeoutError", "NotImplementedError"):
        words = f"{kind}: {words}".strip(": ") or "it failed without a message"
    return {"passed": False, "kind": kind[:SHOWN], "words": words[:SHOWN]}


class Judge:
    """The two processes of a submission."""

    def __init__(self, handout: Handout, student: str, limits: Limits, beside: str = ""):
        self.handout, self.number, self.limits, self.beside = handout, student, limits, beside
        self.until = monotonic() + limits.wall
        self.ended, self.flags = "", []
        self.steps, self.reached = iter(self.of_referee()), set()
        self.done: list[dict] = []  # cells that the submission's process is given again, should it end
        self.again, self.student = AGAIN, self.started(0.0)
        patient = limits._replace(seconds=2 * limits.seconds)
        self.referee = Sandbox(handout.tables, patient, until=self.until) if handout.tests else None

    def of_referee(self) -> list[tuple[str, Any]]:
        """The referee's steps for the number that was typed, with values that are kept for the class."""
        steps = self.handout.referee
        if self.number:
            number = self.number.strip("'\"")  # its quotes may be missing
            typed = f"student = {number!r}"
            steps = [(kind, re.sub(r"(?m)^student = .*$", lambda _: typed, one)) for kind, one in steps]
        asked = {name for one in self.handout.tests.values() for name in names(one.source).needed}
        return [one for some in with_kept(self.handout, steps, asked) for one in some]

    def started(self, spent: float) -> Sandbox:
        """Start the submission's process."""
        more = {"until": self.until, "spent": spent, "beside": self.beside}
        return Sandbox(self.handout.tables, self.limits, share=0.4, **more)

    def close(self) -> None:
        """End both."""
        self.student.close()
        if self.referee:
            self.referee.close()

    def request(self, **question) -> dict:
        """Send the submission's process a question; once it has ended, the answer is why."""
        try:
            if not self.ended:
                return self.student.request(**question)
        except Ended as problem:
            self.ended = str(problem)
        return {"error": {"kind": "TimeoutError", "words": NOT_TO_ITS_END.format(self.ended)}}

    def revive(self) -> None:
        """If the submission's process has ended, start it again, with the cells that did not end it."""
        if self.ended and self.again and self.student.spent < self.limits.seconds and monotonic() < self.until:
            self.again -= 1
            self.student.close()
            self.student, self.ended = self.started(self.student.spent), ""
            for question in self.done:
                self.request(**question)

    def run(self, source: str) -> tuple[str, str]:
        """Run a cell of the submission; return its output and its failure."""
        self.revive()
        answer = self.request(run=[source])
        self.done += [] if self.ended else [{"run": [source]}]
        error = answer.get("error")
        failure = failed(error.get("kind"), error.get("words"))["words"] if isinstance(error, dict) else ""
        return str(answer.get("printed", ""))[:SHOWN], failure

    def take(self, values: Mapping[str, str]) -> None:
        """Give the submission's process values of the handout that are kept for the class."""
        self.revive()
        self.request(take=[values])
        self.done += [] if self.ended else [{"take": [values]}]

    def advance(self, name: str) -> None:
        """Let the referee run those of the handout's cells that stand above a test."""
        assert self.referee
        while name not in self.reached and (step := next(self.steps, None)):
            kind, what = step
            if kind == "test":
                self.reached.add(what)
            else:
                self.referee.request(**{kind: [what]})

    def test(self, name: str, source: str = "") -> list[Verdict]:
        """Return a verdict for each check of a test, or on a `source` in its place one."""
        about, asserts = self.handout.tests[name], [one.asserts for one in self.handout.tests[name].checks]
        assert self.referee
        self.revive()
        self.advance(name)
        answer = self.request(get=[about.needed])
        values = {key: answer[key] for key in about.needed if isinstance(answer.get(key), dict)}
        refused = self.referee.request(put=[about.needed, values])["refused"]
        self.flags += [
            f"what it gives as {key} is no plain value" for key in refused if refused[key]["kind"] == "TypeError"
        ]
        if self.ended or refused:
            why = ("TimeoutError", self.ended) if self.ended else next(iter(refused.values())).values()
            return [failed(*why)] * len(asserts)
        return self.verdicts_of(source or about.source, [0] if source else asserts)

    def verdicts_of(self, source: str, asserts: list[int]) -> list[Verdict]:
        """Let the referee run a test, and carry its questions to the functions of the submission."""
        assert self.referee
        answer = self.referee.request(test=[source, asserts])
        while "call" in answer:
            reply = self.request(call=[answer["call"], answer["given"]])
            answer = self.referee.request(replies=reply.get("replies", [reply.get("error")]))
        verdicts = [one if one["passed"] else failed(one["kind"], one["words"]) for one in answer["verdicts"]]
        assert len(verdicts) == len(asserts)
        return verdicts


def judge(handout: Handout, plan: Plan, limits: Limits, beside: str = "") -> Mapping:
    """Return the result of each answer: its output, its failure, and the verdicts of its tests.

    beside    a folder of the files that came with the notebook, which its process may read; "" for none
    """
    printed: dict[str, str] = {}
    errors: dict[str, str] = {}
    verdicts: dict[str, list[Verdict]] = {}
    if set(plan.open) >= {one.answer for one in handout.exercises}:
        return {"printed": printed, "errors": errors, "verdicts": verdicts, "flags": []}
    both = Judge(handout, plan.student, limits, beside)
    ended: dict[str, str] = {}  # answers that ended their process, and why
    answer_of = {test: one.answer for one in handout.exercises for test in one.tests}
    done = with_kept(handout, [(kind, source) for kind, source, _ in plan.steps])
    steps = [(*one, name) for some, (*_, name) in zip(done, plan.steps, strict=True) for one in some]
    try:
        for kind, what, name in steps:
            if kind == "take":
                both.take(what)
                continue
            if kind == "run":
                output, error = both.run(what)
                ended |= {name: both.ended} if both.ended else {}
                if name and name not in plan.open:
                    printed[name], errors[name] = output, error
                continue
            why = ended.get(answer_of[name]) or both.ended or "the referee ended"
            verdicts[name] = [failed("TimeoutError", why)] * len(handout.tests[name].checks)
            if answer_of[name] not in ended:
                with suppress(Ended):
                    verdicts[name] = both.test(name)
    finally:
        both.close()
    return {"printed": printed, "errors": errors, "verdicts": verdicts, "flags": both.flags}
