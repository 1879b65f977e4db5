"""Processes with limits: each on its own, its result or why there is none."""

import os
import resource
import time

import pytest
from selection import exhaustive

from bmlab_teaching import children
from bmlab_teaching.children import Work, in_children


def done(*works, wall=60.0):
    """{key: (result, problem)} of some works, each with 5 processor seconds and 1 GB."""
    return {key: found for key, *found in in_children(works, cpu=5, gigabytes=1, wall=wall)}


@exhaustive
def test_each_work_has_its_own_session_and_limits_and_its_result_comes_under_its_key():
    limits = {"RLIMIT_CPU": 6, "RLIMIT_AS": 2**30, "RLIMIT_FSIZE": 100 * 2**20, "RLIMIT_CORE": 0}
    asked = {name: Work(name, resource.getrlimit, (getattr(resource, name),)) for name in limits}
    found = done(*asked.values(), *(Work(f"session {k}", os.getsid, (0,)) for k in range(3)))
    assert {name: found[name] for name in limits} == {name: [[most, most], ""] for name, most in limits.items()}
    sessions = {found[f"session {k}"][0] for k in range(3)}
    assert len(sessions) == 3 and os.getsid(0) not in sessions  # Ctrl-C at the keyboard reaches none of them


@exhaustive
def test_what_has_no_result_says_why_and_the_others_have_theirs():
    works = {"sleeps": (time.sleep, (60,)), "fails": (int, ("x",)), "quits": (os._exit, (3,)), "adds": (sum, ((1, 2),))}
    found = done(*(Work(key, *work) for key, work in works.items()), wall=5)
    assert found == {
        "sleeps": [None, "it was stopped after 5 seconds"],
        "fails": [None, "ValueError: invalid literal for int() with base 10: 'x'"],
        "quits": [None, "it took its process, or more than 1 GB"],
        "adds": [3, ""],
    }


@pytest.mark.parametrize("size, fits", [(90, True), (200, False)])
def test_a_result_is_as_large_as_a_process_may_return(monkeypatch, size, fits):
    monkeypatch.setattr(children, "ANSWER", 100)
    sent, ends = [], type("Ends", (), {"send_bytes": lambda self, answer: sent.append(answer)})
    monkeypatch.setattr(children.os, "setsid", lambda: None)
    monkeypatch.setattr(children.signal, "signal", lambda *given: None)
    monkeypatch.setattr(children.resource, "setrlimit", lambda *given: None)
    children.limited(ends(), Work("", str.ljust, ("", size - 14)), 1, 1)
    assert (b'"result"' in sent[0]) == fits and (b"larger than 0 MB" in sent[0]) != fits
