"""Run a submission: its cells in one sandbox, the tests in another, where nothing of the submission was ever run.

What an answer makes is carried over as data, and a function is asked through this process, which looks at nothing.
After each test the referee runs assertions that must fail: where one passes, the test proves nothing, and the answer
has none of its points.
"""

import re
import secrets
from collections.abc import Mapping
from contextlib import suppress

from .course import SHOWN, Handout
from .matching import Plan
from .sandbox import Ended, Limits, Sandbox

TAMPERED = "the referee was tampered with: assertions that must fail have passed"
MUST_FAIL = ("{} == {}", "abs({} - {}) < 1e-9", "__import__('numpy').allclose([{}], [{}])", "{} in ({},)", "False")


class Judge:
    """The two processes of a submission."""

    def __init__(self, handout: Handout, plan: Plan, limits: Limits):
        self.handout, self.plan = handout, plan
        self.ended, self.flags = "", []
        self.referee_steps = iter(handout.referee)
        self.student = Sandbox(handout.tables, limits)
        tests, patient = any(kind == "test" for kind, *_ in plan.steps), limits._replace(seconds=2 * limits.seconds)
        self.referee = Sandbox(handout.tables, patient) if tests else None

    def close(self) -> None:
        """End both."""
        self.student.close()
        if self.referee:
            self.referee.close()

    def ask(self, **question) -> dict:
        """Ask the submission's process; once it has ended, what it says is why."""
        try:
            if not self.ended:
                return self.student.ask(**question)
        except Ended as problem:
            self.ended = str(problem)
        return {"error": ["TimeoutError", f"this cell was not executed, or not to its end: {self.ended}"]}

    def run(self, source: str) -> tuple[str, str]:
        """Run a cell of the submission; return what it printed, and how it failed."""
        answer = self.ask(run=[source])
        error = answer.get("error")
        kind, text = (*map(str, error), "", "")[:2] if isinstance(error, list) else ("", "")
        said = text if kind in ("AssertionError", "TimeoutError", "NotImplementedError") else f"{kind}: {text}"
        return str(answer.get("printed", ""))[:SHOWN], said[:SHOWN] if error else ""

    def test(self, name: str) -> list[str]:
        """Return the first failure of each check of a test, "" for none."""
        about, asserts = self.handout.tests[name], [one.asserts for one in self.handout.tests[name].checks]
        assert self.referee
        for kind, source in self.referee_steps:
            if kind == "test" and source == name:
                break
            if kind == "run":
                if self.plan.student:
                    source = re.sub(r"(?m)^student = .*$", lambda _: f"student = {self.plan.student}", source)
                self.referee.ask(run=[source])
        values = self.ask(get=[about.asked])
        refused = self.referee.ask(put=[about.asked, {k: v for k, v in values.items() if k in about.asked}])["refused"]
        self.flags += [f"what it gives as {key} is no plain value" for key in refused]
        if self.ended or refused:
            return [next(iter(refused.values()), self.ended)] * len(asserts)
        hints = self.ruled(about.source, asserts)
        nonce, (low, high) = secrets.token_hex(8), sorted(secrets.SystemRandom().sample(range(1, 10**6), 2))
        false = "\n".join(f"assert {one.format(low / 7, high / 7)}, {nonce!r}" for one in MUST_FAIL)
        if self.ruled(false, [1] * len(MUST_FAIL)) != [nonce] * len(MUST_FAIL):
            self.flags.append(TAMPERED)
            return [TAMPERED] * len(asserts)
        return hints

    def ruled(self, source: str, asserts: list[int]) -> list[str]:
        """Let the referee run a test, and carry its questions to the functions of the submission."""
        assert self.referee
        answer = self.referee.ask(test=[source, asserts])
        while "call" in answer:
            reply = self.ask(call=[answer["call"], answer["given"]])
            answer = self.referee.ask(**{key: reply[key] for key in ("value", "error") if key in reply})
        return [str(hint)[:SHOWN] for hint in answer["hints"]]


def judge(handout: Handout, plan: Plan, limits: Limits) -> Mapping:
    """Return what came of each answer: what it printed, how it failed, and the hints of its tests."""
    said: dict[str, str] = {}
    errors: dict[str, str] = {}
    hints: dict[str, list[str]] = {}
    if set(plan.open) >= {one.answer for one in handout.exercises}:
        return {"said": said, "errors": errors, "hints": hints, "flags": []}
    both = Judge(handout, plan, limits)
    try:
        for kind, source, name in plan.steps:
            if kind == "run":
                printed, error = both.run(source)
                if name and name not in plan.open:
                    said[name], errors[name] = printed, error
                continue
            hints[name] = [both.ended or "the referee ended"] * len(handout.tests[name].checks)
            with suppress(Ended):
                hints[name] = both.test(name)
    finally:
        both.close()
    return {"said": said, "errors": errors, "hints": hints, "flags": both.flags}
