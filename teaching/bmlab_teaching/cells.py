"""What runs inside the sandbox, as a script of its own: python cells.py SECONDS_OF_A_CELL; a line of JSON each way.

One such process runs a student's cells and answers for the values and functions that they made. Another, the referee,
runs the handout's own cells and the tests, and has never seen a line of the student's: numbers, texts and arrays come
to it as data, and a function as a name by which the first process is asked. So no answer can touch its test.
"""

import ast
import base64
import builtins
import io
import itertools
import json
import os
import pickle
import re
import shutil
import signal
import sys
import types
from contextlib import redirect_stderr, redirect_stdout

SAID, LONGEST = 2000, 200  # characters that are kept of what a cell prints, and of an error's name
MAGIC = re.compile(r"^([ \t]*)(?:[%!?].*|\w+[ \t]*=[ \t]*[%!].*|.*\?)$")
NOT_PLAIN = "{} is no plain value (a number, a text, an array, or a list of these)"
NUMPY = {"_reconstruct", "_frombuffer", "scalar", "ndarray", "dtype"}
PLAIN = {"complex", "set", "frozenset", "bytearray", "slice", "range"}


def python(source: str) -> ast.Module:
    """Return a cell as Python; where it is none, without its magic lines (%timeit, !ls, print?)."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.parse("\n".join(MAGIC.sub(r"\1pass", line) for line in source.split("\n")))


class Page(io.TextIOBase):
    """Keeps the beginning of what is printed."""

    text = ""

    def write(self, text):
        self.text += str(text)[: SAID - len(self.text)]
        return len(text)


class Data(pickle.Unpickler):
    """Reads numbers, texts, arrays, and machines that check themselves; nothing that could act."""

    def find_class(self, module, name):
        """Return one of the few things that data are made of."""
        if (module.partition(".")[0] == "numpy" and name in NUMPY) or (module == "builtins" and name in PLAIN):
            return super().find_class(module, name)
        if module.startswith("bmlab."):
            found = super().find_class(module, name)
            if isinstance(found, type) and "__reduce__" in vars(found):
                return found
        raise TypeError(NOT_PLAIN.format(name))


def plain(value):
    """Return what came from the other process, once more copied: nothing is left that a copy would not have."""
    value = Data(io.BytesIO(base64.b64decode(value))).load()
    return pickle.loads(pickle.dumps(value))


def packed(value) -> str:
    """Return a value as text: iterators as lists, and tables as arrays."""
    if hasattr(value, "__next__"):
        value = list(itertools.islice(value, 10**6))
    as_array = getattr(value, "__array__", None)
    if as_array and type(value).__module__.partition(".")[0] != "numpy":
        value = as_array()
    return base64.b64encode(pickle.dumps(value, 5)).decode()


def attempt(action, seconds: float):
    """Return (what an action returns, None), or (None, [kind, text]) of how it failed; `seconds` is all it gets."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return action(), None
    except BaseException as problem:  # quit() too, which is no error in a notebook
        kind = type(problem).__name__
        return None, None if isinstance(problem, SystemExit) else [kind[:LONGEST], f"{problem}"[:SAID]]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def too_long(*_):
    """Interrupt a cell."""
    raise TimeoutError("stopped, it took too long: is there an endless loop?")


class Function:
    """A function of the student's, in the student's process."""

    def __init__(self, name: str, upwards):
        self.name, self.upwards = name, upwards

    def __call__(self, *given, **named):
        import numpy

        reply = self.upwards({"call": self.name, "given": packed((given, named))})
        if "error" in reply:
            kind, text = map(str, reply["error"])
            known = getattr(builtins, kind, None)
            known = known if isinstance(known, type) and issubclass(known, Exception) else RuntimeError
            raise known(text)
        value, states = plain(reply["value"])
        drawn = [one for one in given if isinstance(one, numpy.random.Generator)]
        for one, state in zip(drawn, states, strict=True):
            one.bit_generator.state = state
        return value


class Cells:
    """The namespace of a notebook, and what can be asked of it."""

    def __init__(self, seconds: float, say, hear):
        self.seconds, self.say, self.hear = seconds, say, hear
        self.module = sys.modules["__main__"] = types.ModuleType("__main__")
        nothing = types.SimpleNamespace(**dict.fromkeys(("run_line_magic", "run_cell_magic", "system"), print))
        self.space = self.module.__dict__
        self.space |= {"display": lambda *_, **__: None, "get_ipython": lambda: nothing, "In": [], "Out": {}}
        self.held = {}

    def run(self, source):
        """Run a cell; return how it failed, and what it printed."""
        page = Page()
        with redirect_stdout(page), redirect_stderr(page):
            _, error = attempt(lambda: exec(compile(python(source), "cell", "exec"), self.space), self.seconds)
        return {"error": error, "printed": page.text}

    def get(self, names):
        """Return what names mean: data, or that it is a function; nothing of those that are not there."""
        found = {}
        for name in names:
            if name in self.space:
                self.held[name] = value = self.space[name]
                data, error = ["function"] * 2 if callable(value) else attempt(lambda v=value: packed(v), self.seconds)
                found[name] = {"function": True} if callable(value) else {"error": error} if error else {"value": data}
        return found

    def call(self, name, given):
        """Call a function that was asked for; return its value, and the generators that it drew from."""
        import numpy

        def called():
            values, named = pickle.loads(base64.b64decode(given))
            result = self.held[name](*values, **named)
            result = list(itertools.islice(result, 10**6)) if hasattr(result, "__next__") else result
            drawn = [one.bit_generator.state for one in values if isinstance(one, numpy.random.Generator)]
            return packed((result, drawn))

        with redirect_stdout(Page()), redirect_stderr(Page()):
            value, error = attempt(called, self.seconds)
        return {"value": value} if value else {"error": error or ["SystemExit", "it ended the process"]}

    def put(self, names, values):
        """Take the student's values over, as data; return what is no data."""
        refused = {}
        for name in names:
            self.space.pop(name, None)
            about = values.get(name, {})
            if "function" in about:
                self.space[name] = Function(name, self.upwards)
            elif "value" in about:
                value, error = attempt(lambda data=about["value"]: plain(data), self.seconds)
                self.space |= {} if error else {name: value}
                refused |= {name: NOT_PLAIN.format(name)} if error else {}
            elif about:
                refused[name] = NOT_PLAIN.format(name)
        return {"refused": refused}

    def upwards(self, question):
        """Ask the student's process, by way of whoever asked."""
        self.say(question)
        return self.hear()

    def test(self, source, asserts):
        """Run a test; return for each group of `asserts` statements with an assert the first failure, or ""."""
        hints, group, seen = [""] * len(asserts), 0, 0
        for statement in ast.parse(source).body:
            code = compile(ast.Module([statement], []), "test", "exec")
            with redirect_stdout(Page()), redirect_stderr(Page()):
                _, error = attempt(lambda code=code: exec(code, self.space), 10 * self.seconds)
            if error:
                kind, text = error
                known = kind in ("AssertionError", "TimeoutError")
                hints[group] = hints[group] or (text if known else f"{kind}: {text}")
                if kind == "TimeoutError":
                    hints[group:] = [hint or text for hint in hints[group:]]
                    break
            seen += any(isinstance(node, ast.Assert) for node in ast.walk(statement))
            if seen == asserts[group] and group + 1 < len(asserts):
                group, seen = group + 1, 0
        return {"hints": hints}


def main() -> None:
    """Answer one question after the other, on channels that what is run cannot print to."""
    if os.path.isdir("/warm"):
        shutil.copytree("/warm", os.environ["HOME"], dirs_exist_ok=True)
    asked, told = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for channel in 0, 1, 2:
        os.dup2(nowhere, channel)

    def say(words):
        print(json.dumps(words), file=told, flush=True)

    def hear():
        return json.loads(asked.readline() or "[]")

    signal.signal(signal.SIGALRM, too_long)
    cells = Cells(float(sys.argv[1]), say, hear)
    while question := hear():
        ((verb, given),) = question.items()
        say(getattr(cells, verb)(*given))


if __name__ == "__main__":
    main()
