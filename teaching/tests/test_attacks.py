"""Attacks that must fail: each is handed in, and its mark, its words and everybody else's marks are read.

`ATTACKS` are answers; below them stand attacks by deliveries, and attacks on the sandbox.
"""

import base64
import io
import json
import os
import re
import resource
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import nbformat
import psutil
import pytest
from selection import exhaustive, one_of
from small_course import RIGHT, answered, graded, hand_in, page_of, short_notebook, walled

from bmlab_teaching import cells, children, deliveries, grading, memory, reading, sandbox
from bmlab_teaching.sandbox import Ended, Limits, Sandbox
from bmlab_teaching.working_copies import student_version

pytestmark = walled
NESTED = "f = str\nx = " + "f(" * 400 + ")" * 400
CHAIN = "x = a" + ".b()" * 5000
FRAMES = """
import sys, gc, builtins
frame = sys._getframe()
while frame:
    for name in ("test", "verdicts_of", "attempt", "plain"):
        if name in frame.f_globals:
            frame.f_globals[name] = lambda *a, **k: (None, None)
    frame = frame.f_back
for one in gc.get_objects():
    if type(one).__name__ == "Cells":
        type(one).test = type(one).get = lambda *a: {"verdicts": [{"passed": True}], "first": {"value": "7"}}
"""
FORGED = """
import os, json
for channel in range(3, 30):
    try:
        os.write(channel, b'{"verdicts": [{"passed": true}, {"passed": true}]}\\n' * 3)
    except OSError:
        pass
"""
ALL = """
class All(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = float.__hash__
"""
PATCHED = """
import numpy as np, bmlab, builtins
np.allclose = np.isclose = lambda *a, **k: True
bmlab.exact = lambda *a, **k: None
builtins.abs = lambda x: 0
builtins.AssertionError = SystemExit
"""
HOOKED = """
import sys, ast
sys.displayhook("ok")
sys.excepthook = lambda *a: None
ast.parse = compile
import IPython
"""
DUNDER = (
    "import builtins\nbuiltins.compile = lambda *a, **k: (lambda: None).__code__\nbuiltins.exec = lambda *a: None\n"
)
PATCHES = """
import sys
ours = sys._getframe(1).f_globals
"""
HALF = "'\\ud83d'"  # half a character, as if a text were cut in the middle of an emoji


def forged(text):
    """An answer with a process that sends a text of its own in the place of a value."""
    return f"{PATCHES}ours['packed'] = lambda value: {text!r}\nfirst = 7"


def dotted_names():
    """A pickle of names with dots: from the package through numpy to attrgetter, and by this to exec."""

    def text(x):
        return b"\x8c" + bytes([len(x)]) + x.encode()

    def taken(path, whence):
        return text("bmlab.model") + text("np.ma.core.operator.attrgetter") + b"\x93" + text(path) + b"\x85R" + whence

    machine = text("bmlab.model") + text("BoltzmannMachine") + b"\x93"
    names = taken("__post_init__.__globals__", machine + b"\x85R")
    inside = taken("__getitem__", names + b"\x85R") + text("__builtins__") + b"\x85R"
    act = taken("__getitem__", inside + b"\x85R") + text("exec") + b"\x85R"
    code = b"""
import gc
for one in gc.get_objects():
    if type(one).__name__ == "Cells":
        one.test = lambda source, asserts: {
            "hints": [""] * 9 if len(asserts) != 5 else [source.rsplit("'", 2)[1]] * 5,
            "verdicts": [{"passed": True, "kind": "", "words": ""}] * 9}
"""
    pickled = b"\x80\x04" + act + b"X" + struct.pack("<I", len(code)) + code + b"\x85R."
    return forged(base64.b64encode(pickled).decode())


OUTSIDE = {"sparse": [[2, 2], {"array": ["<f8", [1], "AAAAAAAA8D8="]}, {"array": ["<i4", [1], "QEIPAA=="]},
                      {"array": ["<i4", [3], "AAAAAAEAAAABAAAA"]}]}  # fmt: skip
SAME_HASH = """
from json import dumps
keys, packed = [{"tuple": [number * (2**61 - 1), 0]} for number in range(60_000)], ours["packed"]
ours["packed"] = lambda value: dumps({"dict": keys}) if value == 7 else packed(value)
first = 7
"""
FORGERIES = {
    "a pickle of names with dots": dotted_names(),
    "an array of a terabyte": forged('{"array": ["<f8", [1000000000000], ""]}'),
    "an array of less than nothing": forged('{"array": ["<f8", [-1], ""]}'),
    "an array of objects": forged('{"array": ["|O8", [1], "AAAAAAAAAAA="]}'),
    "an array of nonsense": forged('{"array": 7}'),
    "a machine of nonsense": forged('{"machine": "[1]"}'),
    "a kind that nobody knows": forged('{"exec": "1"}'),
    "two kinds": forged('{"list": [], "tuple": []}'),
    "a list without a kind": forged("[1]"),
    "lists in lists in lists": forged('{"list": [' * 10_000 + "]}" * 10_000),
    "a dict by lists": forged('{"dict": [{"tuple": [{"list": []}, 1]}]}'),
    "a number of 100,000 digits": forged("9" * 100_000),
    "a matrix that points outside itself": forged(json.dumps(OUTSIDE)),
    "a matrix of a machine that does": forged(json.dumps({"machine": json.dumps([OUTSIDE, None, 1.0, 0.0, None])})),
    "an array with too few bytes": forged('{"array": ["<f8", [2], "AAAA"]}'),
    "an array of no kind that there is": forged('{"array": ["<f3", [], "AAAA"]}'),
    "an array of texts of a gigabyte": forged('{"array": ["<U9999", [99999], ""]}'),
    "a letter that no alphabet has": forged('{"array": ["<U1", [], "/////w=="]}') + "\nfirst = 'x'",
    "one key twice": forged('{"list": [1], "list": {"list": 1}}'),
    "bounds that cross": forged('{"bounded": [1, -1, 2, 0]}'),
}
NONSENSE = {  # messages of a process in the place of its answer
    "a text for a record": "ours['Cells'].get = lambda *a: {'first': 'x', 'double': 'y'}",
    "a record without words": "ours['Cells'].get = lambda *a: {'first': {'words': 7, 'x': 1}, 'double': {'kind': []}}",
    "no replies": "ours['Cells'].call = lambda *a: {'replies': 7}",
    "replies that are none": "ours['Cells'].call = lambda *a: {'replies': ['value', None, 1]}",
    "too few replies": "ours['Cells'].call = lambda *a: {'replies': []}",
    "too many": "ours['Cells'].call = lambda *a: {'replies': [{'value': '6'}] * 9}",
    "errors that are lists": "ours['Cells'].run = lambda *a: {'error': [[]], 'printed': {'a': [1] * 9}}",
    "a number for an answer": "ours['Cells'].get = lambda *a: 7",
    "nothing": "ours['Cells'].get = lambda *a: {}",
}
LATER = """
import os, threading, time
def forge():
    while True:
        for channel in range(3, 20):
            try:
                os.write(channel, b'{"first": {"value": "7"}, "verdicts": [{"passed": true}]}\\n')
            except OSError:
                pass
        time.sleep(0.01)
threading.Thread(target=forge, daemon=True).start()
first = 7
"""
SILENT = """
class Silent(Exception):
    def __str__(self): raise self
raise Silent
"""
EVERY_CHANNEL = """
import os
for channel in range(3, 30):
    try:
        {}
    except OSError:
        pass
"""
EQUALS = """
import bmlab, numpy
class Equals({}):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    __hash__ = None
"""
EARLIER = """
import sys
def double(x):
    frame = sys._getframe()
    while "questions" not in frame.f_locals:
        frame = frame.f_back
    del frame.f_locals["questions"][1:]
    return 2 * x
"""
WRONG_BOTH = {"first": "first = 7", "double": "def double(x):\n    return x"}


def wrong(first):
    """Both answers wrong, the first by way of an attack."""
    return WRONG_BOTH | {"first": first}


def right_with(first):
    """A right second answer below an attack."""
    return RIGHT | {"first": first}


def doubling(source):
    """A right first answer above an attack."""
    return RIGHT | {"double": source}


BY_SOMEBODY_ELSE = {  # the same, found by reading the code of the grader
    "half a line on each channel": (
        right_with(EVERY_CHANNEL.format("os.write(channel, b'{\"first\": {\"value\": ')")), (0, 2), "fits no request|ended",
    ),
    "all channels closed": (right_with(EVERY_CHANNEL.format("os.close(channel)")), (0, 2), "fits no request|ended"),
    "a flood on each channel": (right_with(EVERY_CHANNEL.format("os.write(channel, b'x' * 10**8)")), (0, 2), "larger than 64 MB|ended"),
    "forty answers in advance": (
        wrong(EVERY_CHANNEL.format("os.write(channel, b'{\"error\": null, \"printed\": \"Solved.\"}\\n' * 40)")), (0, 0), ".",
    ),
    "a process that doubles": (
        right_with("import os, time\nbegan = time.time()\nwhile time.time() < began + 5: os.fork()"), (0, 2), "processes|temporarily|ended",
    ),
    "a child that outlives its cell": (
        right_with("import os, time\nif not os.fork():\n    time.sleep(87.654)\n    os._exit(0)\nfirst = base"), (1, 2), "Solved.",
    ),
    "a flood at the end": (
        right_with("import atexit\natexit.register(lambda: [print('x' * 10**6) for _ in range(10**6)])\nfirst = base"), (1, 2), "Solved.",
    ),
    "a bounded number that equals everything": (wrong(EQUALS.format("bmlab.Bounded") + "first = Equals(7)"), (0, 0), "base is one"),
    "a text that equals everything": (wrong(EQUALS.format("str") + "first = Equals('7')"), (0, 0), "no plain value"),
    "a list that equals everything": (wrong(EQUALS.format("list") + "first = Equals([7])"), (0, 0), "base is one"),
    "an array that equals everything": (wrong(EQUALS.format("numpy.ndarray") + "first = numpy.full((), 7).view(Equals)"), (0, 0), "base is one"),
    "a machine that equals everything": (
        wrong(EQUALS.format("bmlab.BoltzmannMachine") + "first = Equals([[0.0]], [7.0])"), (0, 0), "base is one|Error|no plain",
    ),
    "an object that lies about its class": (
        wrong("class Lies:\n    __class__ = property(lambda self: int)\n    def __eq__(self, other): return True\nfirst = Lies()"), (0, 0), "no plain value",
    ),
    "an array that is made anew": (
        doubling("class Made:\n    def __init__(self, x): self.x = x\n    def __array__(self, *a, **k):\n"
                 "        while True: pass\ndef double(x):\n    return Made(x)"), (1, 0), "endless loop",
    ),
    "right on what is seen": (doubling("def double(x):\n    return {3: 6}.get(x, 0)"), (1, 0), "wrong at 5"),
    "an error where it is not seen": (doubling("import os\ndef double(x):\n    if x != 3: os.abort()\n    return 6"), (1, 0), "its process ended"),
    "a parcel without end": (
        doubling("def double(x):\n    import itertools\n    return itertools.repeat('x' * 10**6)"), (1, 0), "Memory|larger|ended|took|stopped",
    ),
    "a list that holds itself": (right_with("first = [1]\nfirst.append(first)"), (0, 2), "no plain value"),
    "minus nothing": (wrong(forged("-0.0")), (0, 0), "base is one"),
    "a number that is none": (wrong(forged("NaN")), (0, 0), "base is one"),
    "a number without end": (wrong(forged("Infinity")), (0, 0), "base is one"),
    "bytes that mean nothing": (right_with("first = base\nprint('\\0\\x1b[2J\\x07\\u202e\\ufffe\\x85\\u2028')"), (1, 2), "Solved."),
    "an error of signs": (
        doubling("def double(x):\n    raise ValueError('=cmd|x\\n;@SUM(1)\\0<b>')"), (1, 0), "ValueError: =cmd.*\\n;@SUM.*&lt;b&gt;",
    ),
    "json that lies": (wrong("import json\njson.dumps = lambda *a, **k: '{\"first\": {\"value\": \"7\"}}'\nfirst = 7"), (0, 0), "."),
    "modules that lie": (
        wrong("import sys, types\nfor name in list(sys.modules):\n    if name.split('.')[0] in ('numpy', 'bmlab', 'json'):\n"
              "        sys.modules[name] = types.ModuleType(name)\nfirst = 7"), (0, 0), "Error|base is one",
    ),
    "builtins that lie": (
        wrong("import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.type = lambda *a: int\nbuiltins.len = lambda x: 1\nfirst = 7"), (0, 0), "base is one|Error|ended|no plain",
    ),
    "questions that are taken away": (doubling(EARLIER), (1, 2), "Solved."),
    "keys of one hash": (wrong(PATCHES + SAME_HASH), (0, 0), "plain value"),
    "an alarm in an hour of need": (
        doubling("import signal, os\nsignal.signal(signal.SIGVTALRM, lambda *a: os._exit(0))\n"
                 "signal.setitimer(signal.ITIMER_VIRTUAL, 0.2)\ndef double(x):\n    while x != 3: pass\n    return 6"), (1, 0), "its process ended",
    ),
    "limits that are lifted": (
        right_with("import resource\nfor limit in range(16):\n    try: resource.setrlimit(limit, (-1, -1))\n"
                   "    except (OSError, ValueError): pass\nfirst = bytearray(10**11)"), (0, 2), "MemoryError",
    ),
    "folders without end": (
        right_with("import os\nos.chdir('/tmp')\nfor _ in range(3000):\n    os.mkdir('x' * 200)\n    os.chdir('x' * 200)\nfirst = base"), (1, 2), "Solved.",
    ),
}  # fmt: skip
ATTACKS = BY_SOMEBODY_ELSE | {  # the attack -> (answers), (points of the two exercises), a part of the page's text
    "an honest wrong answer with a forgotten display": (
        WRONG_BOTH | {"double": "for _ in range(40):\n    display(1)\n    print('x')\ndef double(x):\n    return x"}, (0, 0), "not twice",
    ),
    "a right one with it": (right_with("for _ in range(40):\n    display(1)\nfirst = base"), (1, 2), "Solved."),
    "one number in a list": (
        {"first": "first = [base]", "double": "import numpy as np\ndef double(x):\n    return np.array([2 * x])"}, (1, 2), "Solved.",
    ),
    "no imaginary part": ({"first": "first = (base + 0j,)", "double": "def double(x):\n    return 2 * x + 0j"}, (1, 2), "Solved."),
    "an imaginary part that no test looks at": (
        {"first": "first = 1 + 1e-9j", "double": "def double(x):\n    return 2 * x + 1j"}, (0, 0), "first is a complex number: ",
    ),
    "an error of 3 MB": (WRONG_BOTH | {"double": "def double(x):\n    raise ValueError('x' * 3_000_000)"}, (0, 0), "ValueError"),
    "a display hook": (wrong(f"{HOOKED}\nfirst = 7"), (0, 0), "the base is one"),
    "a patched referee": (wrong(f"{PATCHED}\nfirst = 7"), (0, 0), "the base is one"),
    "patched builtins": (wrong(f"{DUNDER}\nfirst = 7"), (0, 0), "the base is one"),
    "frames and the collector": (wrong(f"{FRAMES}\nfirst = 7"), (0, 0), "no plain value|base is one|ended"),
    "forged replies": (wrong(f"{FORGED}\nfirst = 7"), (0, 0), "ended|fits no request|base is one|not defined"),
    "a number that equals everything": (wrong(f"{ALL}\nfirst = All(7)"), (0, 0), "no plain value"),
    "a result that equals everything": (doubling(f"{ALL}\ndef double(x):\n    return All(7)"), (1, 0), "no plain value"),
    "an array of objects that equal everything": (wrong(f"{ALL}\nimport numpy\nfirst = numpy.array([All(7)], object)"), (0, 0), "base is one"),
    "mock.ANY": (wrong("from unittest.mock import ANY as first"), (0, 0), "no plain value"),
    "a function that learns what is asked": (
        doubling("seen = []\ndef double(x):\n    seen.append(x)\n    return 6 if x == 3 else x"), (1, 0), "wrong at",
    ),
    "a test of one's own": (wrong("first = 7\n### BEGIN HIDDEN TESTS\nassert True\n### END HIDDEN TESTS"), (0, 0), "the base is one"),
    "quit() after a right answer": (right_with("first = base\nquit()"), (1, 2), "(?s)^(?!.*SystemExit).*Solved."),
    "exit in a function": (doubling("import sys\ndef double(x):\n    sys.exit()"), (1, 0), "SystemExit|ended"),
    "an endless loop": ({"first": "while True: pass"} | {"double": RIGHT["double"]}, (0, 2), "endless loop"),
    "an endless function": (doubling("def double(x):\n    while True: pass"), (1, 0), "endless loop"),
    "a stubborn loop": (right_with("import signal, time\nsignal.signal(14, signal.SIG_IGN)\nwhile True: time.sleep(1)"), (0, 2), "stopped after"),
    "a process that ends": (right_with("import os\nos._exit(0)"), (0, 2), "its process ended"),
    "many processes": (
        right_with("import os, time\nfor _ in range(300):\n    if not os.fork(): time.sleep(99)\ntime.sleep(99)"), (0, 2), "processes|temporarily",
    ),
    "memory": (right_with("first = bytearray(10**12)"), (0, 2), "MemoryError"),
    "a value of 100 MB": (right_with("first = 'x' * 10**8"), (0, 2), "larger than"),
    "400 nested calls": (right_with(f"{NESTED}\nfirst = 1"), (0, 2), "nested|Syntax"),
    "a chain of 5,000 calls": (right_with(f"{CHAIN}\nfirst = 1"), (0, 2), "Recursion|Memory|Syntax|ended|is one|Name"),
    "600 lines of !ls": (right_with("!ls\n" * 600 + "first = 1"), (1, 2), "Solved."),
    "200,000 blank lines": (right_with("\n" * 200_000 + "first = 1"), (1, 2), "Solved."),
    "numbers without end": (right_with("first = " + "9" * 20_000), (0, 2), "Exceeds|ValueError|SyntaxError"),
    "an iterator without end": (doubling("import itertools\ndef double(x):\n    return itertools.count()"), (1, 0), "not twice"),
    "warnings": (right_with("import sys\nprint('careful', file=sys.stderr)\nfirst = base"), (1, 2), "careful"),
    "print(*In)": (
        {"first": "first = base\nprint(*In)", "double": "import sys\nprint(sys.argv, *In, globals())\ndef double(x):\n    return 2 * x"}, (1, 2), "Solved.",
    ),
    "scripts": (right_with("first = base\nprint('<script>alert(1)</script>') # <script>alert(1)</script>"), (1, 2), "&lt;script&gt;"),
    "lists in lists": (right_with("first = 1\nfor _ in range(10**5):\n    first = [first]"), (0, 2), "no plain value"),
    "lists that double": (right_with("first = 1\nfor _ in range(60):\n    first = [first, first]"), (0, 2), "no plain value"),
    "masked numbers": (right_with("import numpy\nfirst = numpy.ma.masked_array([7], [True])"), (0, 2), "base is one"),
    "no number": (right_with("first = float('nan')"), (0, 2), "base is one"),
    "NotImplemented": (doubling("def double(x):\n    return NotImplemented"), (1, 0), "no plain value"),
    "an argument that is changed": (
        doubling("def double(x):\n    import gc\n    for one in gc.get_objects():\n"
                 "        if isinstance(one, tuple) and one and one[0] is x: pass\n    globals()['x'] = 3\n    return 6"), (1, 0), "wrong at",
    ),
    "an interrupt": (doubling("def double(x):\n    raise KeyboardInterrupt"), (1, 0), "KeyboardInterrupt"),
    "an assertion of one's own": (doubling("def double(x):\n    raise AssertionError('2 of 2 points')"), (1, 0), "0 of 0.5.*0 of 1.5"),
    "an error without words": (right_with(SILENT), (0, 2), "its process ended"),
    "a crash": (right_with("import ctypes\nctypes.string_at(0)"), (0, 2), "its process ended"),
    "a thread that answers later": (wrong(LATER), (0, 0), "fits no request|ended|no plain value|base is one|not defined"),
    "a large file": (
        right_with("with open('/tmp/x', 'wb') as file:\n    for _ in range(10**3): file.write(bytes(10**6))"), (0, 2), "File too large|No space",
    ),
    "printing without end": (right_with("while True: print('x' * 10**6)"), (0, 2), "endless loop"),
    "a function that stops the clock": (
        doubling("import signal, time\ndef double(x):\n    signal.setitimer(signal.ITIMER_REAL, 0)\n    time.sleep(99)"), (1, 0), "stopped after",
    ),
    "a million blanks": (right_with(" " * 10**6 + "\nfirst = 1 # ?" + " " * 10**6), (1, 2), "Solved."),
    "formulas in a word": (right_with("first = 1 # " + "\\begin{a}" * 20_000), (1, 2), "Solved."),
    "an assertion without words": (doubling("def double(x):\n    raise AssertionError"), (1, 0), "AssertionError"),
    "a time-out without words": (doubling("def double(x):\n    raise TimeoutError"), (1, 0), "TimeoutError"),
    "a function with an assertion of its own": (doubling("def double(x):\n    assert x < 0\n    return 2 * x"), (1, 0), "AssertionError"),
    "an error that ends a loop": (doubling("def double(x):\n    raise StopIteration"), (1, 0), "StopIteration"),
    "half a character": (right_with(f"first = base\nprint({HALF})"), (1, 2), "Solved."),
    "half a character as an answer": (right_with(f"first = {HALF}"), (0, 2), "base is one"),
    "half a character in an error": (doubling(f"def double(x):\n    raise ValueError({HALF})"), (1, 0), "ValueError"),
    "an endless recursion": (
        right_with("import sys\nsys.setrecursionlimit(10**9)\ndef deep(x):\n    return deep(x)[0]\nfirst = sorted([1, 2], key=deep)"), (0, 2), "its process ended|stopped|took|MemoryError",
    ),
    "a function that ends its process": (doubling("import os\ndef double(x):\n    os._exit(0)"), (1, 0), "its process ended"),
    "a process that ends each time it is started": (
        RIGHT | {"first": "first = 7\nimport threading, os\nthreading.Timer(0.1, os._exit, [0]).start()", "double": "import time\ntime.sleep(0.5)\ndef double(x):\n    return 2 * x"}, (0, 0), "its process ended",
    ),
    "memory in a file without a name": (
        right_with("import os\nfiles = [os.memfd_create('x') for _ in range(50)]\nfor one in files: os.write(one, bytes(60 * 2**20))\nfirst = base"),
        (0, 2), "not permitted",
    ),
    "memory in segments that nobody holds": (
        right_with("import ctypes\nlibrary = ctypes.CDLL(None, use_errno=True)\nlibrary.shmat.restype = ctypes.c_void_p\nfor _ in range(50):\n"
                   "    segment = library.shmget(0, 60 * 2**20, 0o1600)\n    if segment < 0: raise OSError(ctypes.get_errno(), 'shmget')\n"
                   "    place = ctypes.c_void_p(library.shmat(segment, None, 0))\n    ctypes.memset(place, 1, 60 * 2**20)\n    library.shmdt(place)\n"
                   "first = base"),
        (0, 2), r"Errno 1\W+shmget",
    ),
    "memory in a folder of users of its own": (
        right_with("import ctypes, os\nlibrary = ctypes.CDLL(None, use_errno=True)\nif library.unshare(0x10020000): raise OSError(ctypes.get_errno(), 'unshare')\n"
                   "library.mount(b'x', b'/tmp', b'tmpfs', 0, None)\nfor k in range(50): open(f'/tmp/{k}', 'wb').write(bytes(60 * 2**20))\nfirst = base"),
        (0, 2), r"Errno 1\W+unshare",
    ),
    "memory in a folder of a child's own": (
        right_with("import ctypes, os\nlibrary = ctypes.CDLL(None, use_errno=True)\nnumber = 220 if os.uname().machine == 'aarch64' else 56\n"
                   "child = library.syscall(number, 0x10020000 | 17, 0, 0, 0, 0)\nif child < 0: raise OSError(ctypes.get_errno(), 'clone')\n"
                   "child or os._exit(0)\nfirst = base"),
        (0, 2), r"Errno 1\W+clone",
    ),
    "memory in semaphores": (
        right_with("import ctypes\nlibrary = ctypes.CDLL(None, use_errno=True)\nfor _ in range(200):\n"
                   "    if library.semget(0, 32000, 0o1600) < 0: raise OSError(ctypes.get_errno(), 'semget')\nfirst = base"),
        (0, 2), r"Errno 1\W+semget",
    ),
    "memory in sockets": (right_with("import socket\nfirst = base, [socket.socketpair() for _ in range(99)]"), (0, 2), "not permitted"),
    "memory of a million files": (
        right_with("import os\nfor k in range(10**7): os.mknod(f'/tmp/{k}')\nfirst = base"), (0, 2), "took [0-9.]* GB|ended|endless loop",
    ),
    "a cell that sleeps": (right_with("import time\ntime.sleep(10**6)"), (0, 2), "took too long"),
} | {
    name: (wrong(source), (0, 0), "plain value|Error") for name, source in FORGERIES.items()
} | {
    name: (wrong(f"{PATCHES}{source}\nfirst = 7"), (0, 0), ".") for name, source in NONSENSE.items()
}  # fmt: skip


@pytest.fixture(scope="module")
def attacked(request, tmp_path_factory):
    """A class of the wanted attacks, and of Honest, who has answered everything."""
    folder = tmp_path_factory.mktemp("attacks")
    blank = student_version(short_notebook(folder))
    asked = {one.callspec.params.get("attack") for one in request.session.items if hasattr(one, "callspec")}
    for student, (answers, *_) in ATTACKS.items():
        if student not in asked:
            continue
        hand_in(folder / "returned", student.replace("*", "-").replace("/", "-"), "twice", answered(blank, answers))
    hand_in(folder / "returned", "Honest", "twice", answered(blank))
    return folder, graded(folder, seconds=10, gigabytes=2, wall=30)


@pytest.mark.parametrize("attack", one_of(ATTACKS, kind=lambda attack: ATTACKS[attack][1:]))
def test_an_attack_scores_what_its_answers_deserve_and_says_why(attacked, attack):
    folder, lines = attacked
    _, (first, double), words = ATTACKS[attack]
    student = attack.replace("*", "-").replace("/", "-")
    line, page = lines[student], page_of(folder, student)
    points = (float(line["twice: 1. Do: first"]), float(line["twice: 2. Do: double"]))
    assert points == (first, double) and re.search(words, page), re.sub("<[^>]*>", "", page[page.index("<body") :])[
        :1500
    ]
    assert "<script" not in page and len(page) < 200_000
    assert not re.search("wrong at nothing|for x in \\(0", page), "a hidden test on a feedback page"


def test_everybody_else_has_their_marks(attacked):
    _, lines = attacked
    assert lines["Honest"]["twice"] == "3"
    assert all(line["twice"] for line in lines.values())


# Deliveries


def archive(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return out.getvalue()


def a_bomb(zeros):
    """A zip of 1,000 zips, each small and each large when it is unpacked."""
    inner = archive(x=bytes(zeros))
    return archive(**{f"{number}.zip": inner for number in range(1000)})


@pytest.fixture(scope="module")
def delivered(tmp_path_factory):
    """A delivery of Canvas in which some send files that are meant for others."""
    folder = tmp_path_factory.mktemp("delivered")
    blank = student_version(short_notebook(folder))
    right, wrong = (nbformat.writes(answered(blank, some)).encode() for some in (RIGHT, WRONG_BOTH))
    (folder / "returned").mkdir()
    words = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("\\begin{a}" * 20_000), *answered(blank).cells]
    )
    many = {"cells": [{"cell_type": "code", "source": "x", "metadata": {}}] * 5000}
    for name, data in {
        "leeann_4711_99_twice.ipynb": right,
        "mallory_4712_100_hw.zip": archive(**{"leeann_4711_999999_twice.ipynb": wrong, "leeann/twice.ipynb": wrong}),
        "nested_4713_101_leeann_4711_999999_twice.ipynb": wrong,
        "bomb_4714_102_work.zip": a_bomb(2**27),
        "deep_4715_103_work.zip": archive(**{"a.zip": archive(**{"b.zip": archive(**{"c.zip": archive(x=b"")})})}),
        "climb_4716_104_work.zip": archive(**{"../../../leeann_4711_999999_twice.ipynb": right}),
        "words_4717_105_twice.ipynb": nbformat.writes(words).encode(),
        "many_4718_106_twice.ipynb": json.dumps(many).encode(),
        "brackets_4719_107_twice.ipynb": b'{"cells": ' + b"[" * 200_000,
        "half_4720_108_twice.ipynb": right[:-30],
        "damaged_4721_109_work.zip": archive(**{"twice.ipynb": right})[:-30],
        "null_4722_110_twice.ipynb": null_metadata(right),
        "odd_4723_111_work.zip": without_month(right),
        "script<img src=x onerror=alert(1)>_4727_115_twice.ipynb": right,
        "ziplink_4728_116_work.zip": with_a_link(folder / "sources/twice.ipynb"),
        "liar_4729_117_work.zip": that_lies(right),
        "keys_4730_118_twice.ipynb": b'{"cells": {"cell_type": "code", "source": "first = 1"}}',
        "label_4731_119_twice.ipynb": odd_labels(right),
        "heading_4732_120_work.zip": archive(
            **{
                "twice.ipynb": right,
                "old.ipynb": b'{"worksheets": [{"cells": [{"cell_type": "heading", "level": Infinity}]}]}',
            }
        ),
        "strange_4725_113_twice.ipynb": b'{"cells": [1, null, {"cell_type": "code", "source": {"a": 1}, "metadata": []}]}',
    }.items():
        (folder / "returned" / name).write_bytes(data)
    (folder / "returned/link_4726_114_twice.ipynb").symlink_to(folder / "sources/twice.ipynb")
    return folder, graded(folder, seconds=30)


def null_metadata(data):
    notebook = json.loads(data)
    for cell in notebook["cells"]:
        cell["metadata"] = cell["metadata"] or None
    return json.dumps(notebook | {"metadata": None}).encode()


def with_a_link(target):
    """A zip with a symbolic link in it."""
    link = zipfile.ZipInfo("twice.ipynb")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(link, str(target))
    return out.getvalue()


def that_lies(data):
    """A zip with a directory that gives a size of ten bytes."""
    found = bytearray(archive(**{"twice.ipynb": data}))
    at = found.index(b"PK\x01\x02") + 24
    found[at : at + 4] = (10).to_bytes(4, "little")
    return bytes(found)


def odd_labels(data):
    """Labels that are no texts, or long."""
    notebook = json.loads(data)
    for cell, name in zip(notebook["cells"], [{"a": [1]}, "x" * 10**6, None, ["first"]], strict=False):
        cell["metadata"] = {"nbgrader": {"grade_id": name}}
    return json.dumps(notebook).encode()


def dated(data, seconds, *date):
    """A zip with a member that has a date, and another one, in seconds since 1970, in the field that Unix adds."""
    member = zipfile.ZipInfo("twice.ipynb", (*date, 0, 0, 0))
    member.extra = struct.pack("<HHBi", 0x5455, 5, 1, seconds)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(member, data)
    return out.getvalue()


def without_month(data):
    """A zip with a date of month 0 and day 0."""
    found = bytearray(archive(**{"twice.ipynb": data}))
    for signature, place in ((b"PK\x03\x04", 12), (b"PK\x01\x02", 14)):
        at = found.index(signature) + place
        found[at : at + 2] = bytes(2)
    return bytes(found)


def test_nobody_touches_the_mark_of_another(delivered):
    _, lines = delivered
    assert lines["4711"]["student"] == "leeann" and lines["4711"]["twice"] == "3" and not lines["4711"]["remarks"]
    assert lines["4712"]["student"] == "mallory" and lines["4712"]["twice"] == "0"
    assert lines["4713"]["twice"] == "0" and lines["4716"]["twice"] == "3"


@pytest.mark.parametrize(
    "student, words",
    {
        "4714": "holds more than 200 MB",
        "4715": "a zip in a zip in a zip",
        "4718": "more than 2000 cells",
        "4719": "cannot be read as a notebook",
        "4720": "cannot be read as a notebook",
        "4721": "",
        "4725": "no notebook of this course|cannot be read",
        "4726": "it is a link",
        "4728": "cannot be read as a notebook",
        "4729": "cannot be read out of its zip",
        "4730": "cannot be read as a notebook",
    }.items(),
)
def test_what_cannot_be_read_is_blank_with_a_remark(delivered, student, words):
    _, lines = delivered
    assert lines[student]["twice"] == "" and re.search(words, lines[student]["remarks"]) and lines[student]["remarks"]


@pytest.mark.parametrize("student", ["4717", "4722", "4723", "4731", "4732"])
def test_what_is_only_odd_is_graded_all_the_same(delivered, student):
    """20,000 formulas, null for metadata, month 0, labels that are none, an endless heading in another file."""
    assert delivered[1][student]["twice"] == "3", delivered[1][student]["remarks"]


def test_a_name_is_never_a_part_of_a_page(delivered):
    folder, lines = delivered
    (line,) = [line for who, line in lines.items() if who.startswith("script_img src=x")]
    assert line["twice"] == "3"
    pages = [folder / "graded/class.html", *(folder / "graded/feedback").rglob("*.html")]
    assert not any("<img" in page.read_text(encoding="utf-8") for page in pages)


def test_nobody_looks_behind_a_link(tmp_path):
    """Were it one to /, the class would wait until the whole disk is read."""
    blank = student_version(short_notebook(tmp_path))
    hand_in(tmp_path / "elsewhere", "ann", "twice", answered(blank))
    (tmp_path / "returned").mkdir()
    (tmp_path / "returned/bo").symlink_to(tmp_path / "elsewhere")
    (bo,) = deliveries.senders(tmp_path / "returned", ["twice"])
    before = bo.digest()
    hand_in(tmp_path / "elsewhere", "cy", "twice", answered(blank))
    assert bo.digest() == before
    assert graded(tmp_path)["bo"]["remarks"] == "bo: it is a link, or no file"


NAMES = [
    "=cmd|x!A0",
    "@SUM(1)",
    "-rf",
    "a;=b",
    "CON",
    "nul.txt",
    "\u202eoib",
    "a\nb",
    "\U0001f600",
    "'=x",
    "%00",
    "{x}",
    "~",
]
NAMES += ["x" * 200]


def test_a_name_of_any_signs_is_somebody_with_marks(tmp_path):
    """Names of folders that no platform writes; each has a line, a page and marks, and no cell is a formula."""
    blank = student_version(short_notebook(tmp_path))
    for name in NAMES:
        hand_in(tmp_path / "returned", name, "twice", answered(blank))
    lines = graded(tmp_path, seconds=15)
    assert len(lines) == len(NAMES) + 1 and {line["twice"] for line in lines.values()} == {"3"}
    assert not any(re.match(r"\s*[=+\-@]", cell) for line in lines.values() for cell in line.values())
    assert len(list((tmp_path / "graded/feedback").rglob("*.html"))) == len(NAMES)
    assert all(page.resolve().is_relative_to(tmp_path) for page in (tmp_path / "graded").rglob("*"))


def test_a_date_that_a_student_writes_changes_no_mark(tmp_path):
    """A zip's date was a way around a penalty. Here the platform's own order alone decides which attempt is the last."""
    blank = student_version(short_notebook(tmp_path))
    right, wrong = (nbformat.writes(answered(blank, some)).encode() for some in (RIGHT, {"first": "first = base"}))
    (tmp_path / "returned").mkdir()
    dates = [(0, 1980, 1, 1), (1999 * 31_556_952 - 62_167_219_200, 1980, 1, 1), (2**31 - 1, 2107, 12, 31)]
    for number, (seconds, *date) in enumerate(dates):
        when = (
            tmp_path / f"returned/ann{number}_{number}_10_twice.zip",
            tmp_path / f"returned/ann{number}_{number}_9_twice.zip",
        )
        when[0].write_bytes(dated(wrong, seconds, *date))
        when[1].write_bytes(dated(right, -seconds, *dates[-1 - number][1:]))  # an attempt before it, dated otherwise
    lines = graded(tmp_path)
    marks = [{**lines[f"{number}"], "id": "", "student": ""} for number in range(len(dates))]
    assert marks[0]["twice"] == "1" and all(one == marks[0] for one in marks)
    assert not re.search("late|1980|1999|2107", str(marks))


def test_a_bomb_costs_its_sender_seconds_and_little_memory(delivered):
    folder, _ = delivered
    reader = reading.Reader()
    with pytest.raises(reading.TooMuch):
        list(reader.files_of([("", "x", str(folder / "returned/bomb_4714_102_work.zip"), [])]))
    assert reader.size < reading.MAX_DELIVERY_BYTES + 2**21


def test_a_delivery_of_one_student_is_read(tmp_path):
    blank = student_version(short_notebook(tmp_path))
    hand_in(tmp_path / "returned/Ann Lee_2001_assignsubmission_file_", "part", "twice", answered(blank))
    hand_in(tmp_path / "returned/Ann Lee_2001_assignsubmission_file_", "other", "essay", blank)
    lines = graded(tmp_path)
    assert lines["2001"]["student"] == "Ann Lee" and lines["2001"]["twice"] == "3" and len(lines) == 2


def test_whatever_ends_a_reading_process_is_its_students_remark(tmp_path, monkeypatch):
    """An unforeseen crash, planted in the reading of one student's file."""
    blank = student_version(short_notebook(tmp_path))
    for student in ("ann", "bo", "cy", "di"):
        hand_in(tmp_path / "returned", student, "twice", answered(blank))
    (tmp_path / "returned/bo/twice.ipynb").write_bytes(b"killed")
    (tmp_path / "returned/cy/twice.ipynb").write_bytes(b"raised")
    (tmp_path / "returned/di/twice.ipynb").write_bytes(b"endless")
    read_cells = reading.read_cells

    def planted(data):
        if data == b"killed":
            psutil.Process().kill()
        if data == b"raised":
            raise RecursionError("too deep")
        while data == b"endless":
            pass
        return read_cells(data)

    monkeypatch.setattr(children, "START", "fork")  # the children get the planted crash
    monkeypatch.setattr("bmlab_teaching.grading.read_cells", planted)
    monkeypatch.setattr("bmlab_teaching.grading.READING", {"cpu": 2, "gigabytes": 4, "wall": 20})
    lines = graded(tmp_path)
    assert {student: line["twice"] for student, line in lines.items()} == {
        "(full marks)": "3", "ann": "3", "bo": "", "cy": "", "di": "",
    }  # fmt: skip
    assert all("could not be read" in lines[student]["remarks"] for student in ("bo", "cy", "di"))
    assert "processor seconds" in lines["di"]["remarks"] and "too deep" in lines["cy"]["remarks"]


# The referee


def test_no_test_is_ever_inside_the_process_of_an_answer(tmp_path, monkeypatch):
    blank = student_version(short_notebook(tmp_path))
    hand_in(tmp_path / "returned", "ann", "twice", answered(blank))
    request, log = Sandbox.request, tmp_path / "log"

    def noted(self, **question):
        with log.open("a") as file:
            name = vars(self).setdefault("name", uuid4().hex)  # an id() is given again when its sandbox is gone
            print(json.dumps([name, question]), file=file)
        return request(self, **question)

    monkeypatch.setattr(children, "START", "fork")  # the children get the planted crash
    monkeypatch.setattr(Sandbox, "request", noted)
    assert graded(tmp_path)["ann"]["twice"] == "3"
    requests = [json.loads(line) for line in log.read_text().splitlines()]
    of_answers = {name for name, question in requests if "get" in question or "call" in question}
    tests = {name for name, question in requests if "test" in question}
    assert of_answers and tests and not of_answers & tests


# The sandbox

ATTEMPTS = {  # the aim of a submission -> its means, and the reason why it fails
    "connect to the network": ("import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)", "not permitted"),
    "be in the network": (
        "import os\nif os.readlink('/proc/self/ns/net') != {network!r}: raise RuntimeError('in another')", "in another",
    ),
    "delete": ("import shutil\nshutil.rmtree({outside!r})", "No such file"),
    "read": ("print(open({outside!r} + '/solutions.txt').read())", "No such file"),
    "write": ("open({outside!r} + '/solutions.txt', 'w').write('')", "No such file"),
    "reach a socket": ("import socket\nsocket.socket(socket.AF_UNIX).connect({outside!r} + '/socket')", "not permitted"),
    "change the package": (
        "import bmlab, os\nif os.statvfs(bmlab.__file__).f_flag & os.ST_RDONLY: raise OSError('Read-only file system')\n"
        "open(bmlab.__file__, 'a').write('')",
        "Read-only file system",
    ),
    "import the grader": ("import bmlab_teaching", "No module named"),
    "find the grader's files": (
        "import glob, os\nassert any(os.path.exists(p) for p in [{grader!r}, {notebooks!r}]), 'nothing is there'",
        "nothing is there",
    ),
    "look at other processes": (
        "import os\nseen = [open(f'/proc/{{pid}}/cmdline').read() for pid in os.listdir('/proc') if pid.isdigit()]\n"
        "if not any('a teacher' in command for command in seen): raise RuntimeError('saw no teacher')",
        "saw no teacher",
    ),
    "plant a link where it is cleaned up": (
        "import os\nfor place in ('/tmp', '/course', os.environ['HOME']): os.symlink('/etc', place + '/planted')\n"
        "os.chmod('/cells.py', 0o777)",
        "Read-only file system|Permission denied|not permitted",
    ),
    "read the system's files": ("print(open('/etc/passwd').read())", "No such file"),
    "open ten thousand files": ("files = [open('/dev/null') for _ in range(10**4)]", "Too many open files"),
    "start a thousand threads": (
        "import threading\nstop = threading.Event()\ntry:\n    for _ in range(1000): "
        "threading.Thread(target=stop.wait).start()\nfinally: stop.set()\n[one.join() for one in threading.enumerate()[1:]]",
        "can't start new thread",
    ),
    "write beside its folders": ("open('/x', 'w')", "Read-only file system|Permission denied"),
    "write among the devices": ("open('/dev/x', 'w')", "Read-only file system|Permission denied"),
    "start a program": ("import subprocess\nsubprocess.run(['ls'])", "No such file"),
}  # fmt: skip
LEFT_BEHIND = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(98.765)'])"


def check_wall(tmp_path):
    """All attempts fail for their reasons, and nothing outside was changed, sent or requested."""
    with ExitStack() as stack:
        outside = tmp_path / "outside"
        outside.mkdir(exist_ok=True)
        (outside / "solutions.txt").write_text("xyzzy")
        doors = [stack.enter_context(socket.create_server(("127.0.0.1", 0))), stack.enter_context(socket.socket(1))]
        doors[1].bind(str(outside / "socket"))
        doors[1].listen()
        teacher = [sys.executable, "-c", "input()", "a teacher"]
        stack.enter_context(subprocess.Popen(teacher, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL))
        notebooks = Path(__file__).resolve().parents[2] / "notebooks"
        known = {"outside": str(outside), "port": doors[0].getsockname()[1]}
        known |= {"network": os.readlink("/proc/self/ns/net")}
        known |= {"grader": str(Path(sandbox.__file__)), "notebooks": str(notebooks)}
        inside = Sandbox([], Limits(60, 2))
        stack.callback(inside.close)
        for name, (source, reason) in ATTEMPTS.items():
            found = inside.request(run=[source.format(**known)])
            assert found["error"] and re.search(reason, ": ".join(found["error"].values())), (name, found)
            assert "xyzzy" not in str(found)
        assert not inside.request(run=[LEFT_BEHIND])["error"]
        noisy = inside.request(run=["for _ in range(100): print('x' * 200_000)"])
        assert not noisy["error"] and len(noisy["printed"]) == cells.PRINTED_CHARACTERS
        assert (outside / "solutions.txt").read_text() == "xyzzy"
        for door in doors:
            door.setblocking(False)
            with pytest.raises(BlockingIOError):
                door.accept()
    commands = [(one, " ".join(one.info["cmdline"] or ())) for one in psutil.process_iter(["cmdline"])]
    behind = [one for one, command in commands if "time.sleep(98.765)" in command]
    assert not psutil.wait_procs(behind, timeout=600)[1]


def test_no_attempt_gets_through_the_wall(tmp_path):
    check_wall(tmp_path)


@pytest.mark.parametrize(
    "taken, put",
    [
        ('"ipc", "pid", "net"', '"ipc", "pid"'),
        ('"ipc", "pid", "net"', '"ipc", "net"'),
        ("TASKS = 4", "TASKS = 4000"),
        ('"--proc", "/proc"', '"--ro-bind", "/proc", "/proc"'),
        ('"--ro-bind-try"', '"--bind-try"'),
        ('["/usr/lib", "/usr/lib64", "/lib", "/lib64"]', '["/tmp"]'),
        ("str(BMLAB)", "str(BMLAB.parent)"),
    ],
)
def test_a_hole_in_the_wall_is_noticed(taken, put, tmp_path, monkeypatch):
    text = Path(sandbox.__file__).read_text(encoding="utf-8")
    assert taken in text
    holed = {"__file__": sandbox.__file__, "__name__": "holed", "__package__": "bmlab_teaching"}
    exec(compile(text.replace(taken, put), "holed", "exec"), holed)
    for part in "bubblewrap", "own_user":
        monkeypatch.setattr(sandbox, part, holed[part])
    with pytest.raises((AssertionError, Ended)):
        check_wall(tmp_path)


def test_a_long_cell_reaches_its_process():
    """A pipe holds 64 KB."""
    inside = Sandbox([], Limits(60, 2))
    inside.request(run=[f"text = {'x' * 2_000_000!r}"])
    assert inside.request(run=["print(len(text))"])["printed"] == "2000000\n"
    inside.close()


@exhaustive
def test_what_a_failed_cell_started_ends_with_it_and_what_another_started_goes_on():
    inside, count = Sandbox([], Limits(60, 2)), "import os\nprint(sum(one.isdigit() for one in os.listdir('/proc')))"
    begin = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])\n"
    alone = int(inside.request(run=[count])["printed"])
    assert not inside.request(run=[begin])["error"] and int(inside.request(run=[count])["printed"]) == alone + 1
    assert inside.request(run=[f"{begin}1 / 0"])["error"] and int(inside.request(run=[count])["printed"]) == alone
    inside.close()


def test_what_ends_a_request_is_not_said_of_the_next(monkeypatch):
    """The look that finds too many processes is slow to end them, as on a busy machine: their own answer is refused."""
    found, over = threading.Event(), threading.Event()

    def slowly(handle):
        found.set()
        over.wait()
        children.end(handle)

    monkeypatch.setattr(sandbox, "end", slowly)
    monkeypatch.setattr(sandbox, "LOOK", 0.05)
    inside = Sandbox([], Limits(60, 2))
    copies = f"for _ in range({sandbox.PROCESSES}):\n    os.fork() or time.sleep(9) or os._exit(0)"
    with pytest.raises(Ended, match="it started"):
        inside.request(run=[f"import os, time\n{copies}\ntime.sleep(3)"])
    assert found.is_set()
    over.set()
    inside.close()


def test_a_busy_machine_costs_nobody_marks():
    """Sleep stands for the time in which others have the processor: it is longer than the seconds of the limit."""
    inside = Sandbox([], Limits(2, 2))
    assert not inside.request(run=["import time\ntime.sleep(3)"])["error"]
    assert inside.request(run=["while True: pass"])["error"]["kind"] == "TimeoutError"
    inside.close()


def test_what_sleeps_is_stopped_by_its_idleness_and_what_waits_for_a_question_is_not(monkeypatch):
    monkeypatch.setattr(sandbox, "LOOK", 0.05)
    monkeypatch.setattr(sandbox, "IDLE", 3)
    inside = Sandbox([], Limits(60, 2))
    assert not inside.request(run=["x = 1"])["error"]
    time.sleep(4)
    assert inside.request(run=["print(x)"])["printed"] == "1\n"
    with pytest.raises(Ended, match="after 3 seconds in which it did nothing"):
        inside.request(run=["import time\ntime.sleep(200)"])
    inside.close()


def test_a_test_without_an_end_is_stopped():
    inside = Sandbox([], Limits(1, 2))
    with pytest.raises(Ended, match="stopped after 1 processor seconds"):
        inside.request(test=["while True: pass", [1]])
    inside.close()


def test_a_number_that_another_process_has_by_now_kills_nobody():
    """The system reuses numbers of processes; a process that has ended, and was looked at since, has none."""
    inside = Sandbox([], Limits(60, 2))
    inside.process.kill()
    inside.process.wait()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        inside.process.pid = stranger.pid
        inside.close()
        stranger.communicate(b"\n")
    assert stranger.returncode == 0


def test_without_bubblewrap_nothing_is_run_unless_somebody_says_so(tmp_path, monkeypatch):
    """As on macOS, which limits no process's memory either."""
    setrlimit = resource.setrlimit

    def as_on_macos(limit, values):
        if limit == resource.RLIMIT_AS:
            raise ValueError("current limit exceeds maximum limit")
        setrlimit(limit, values)

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(resource, "setrlimit", as_on_macos)
    monkeypatch.setattr(sandbox, "has_bubblewrap", sandbox.has_bubblewrap.__wrapped__)
    hand_in(tmp_path / "returned", "ann", "twice", answered(student_version(short_notebook(tmp_path))))
    hand_in(
        tmp_path / "returned", "bo", "twice", answered(student_version(tmp_path / "sources/twice.ipynb"), WRONG_BOTH)
    )
    with pytest.raises(ValueError, match="bubblewrap is not here, so nothing was run: apt install bubblewrap"):
        graded(tmp_path)
    assert not (tmp_path / "graded/grades.csv").exists()
    lines = graded(tmp_path, trust=True)
    assert lines["ann"]["twice"] == "3" and lines["bo"]["twice"] == "0" and "not twice" in page_of(tmp_path, "bo")


# Memory


def test_a_wall_around_memory_is_named_and_holds():
    limits, words = sandbox.with_memory_held(Limits(60, 1))
    assert words.startswith("1 GB of memory for each submission, ") and limits[:2] == (60, 1)


def test_who_grades_is_told_what_holds_memory_and_what_to_upload(tmp_path, monkeypatch):
    messages = []
    monkeypatch.setattr(sandbox, "has_bubblewrap", lambda: True)
    monkeypatch.setattr(sandbox, "with_memory_held", lambda limits: (limits, "a wall of bricks"))
    monkeypatch.setattr(grading, "grade_new", lambda *given: None)
    tables = grading.write_tables
    monkeypatch.setattr(grading, "write_tables", lambda *given: [*tables(*given), "what to upload"])
    hand_in(tmp_path / "returned", "ann", "twice", answered(student_version(short_notebook(tmp_path))))
    graded(tmp_path, report=messages.append)
    assert messages[:2] == ["a wall of bricks", "what to upload"] and "1 students, 1 of them new" in messages[-1]


def test_where_nothing_holds_memory_nothing_is_run(tmp_path, monkeypatch):
    """As on a processor with unknown numbers of system calls, without systemd."""
    monkeypatch.setattr(memory.platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(
        sandbox, "holds", lambda command, *given: command[0] != "systemd-run" and memory.holds(command, *given)
    )
    hand_in(tmp_path / "returned", "ann", "twice", answered(student_version(short_notebook(tmp_path))))
    with pytest.raises(ValueError, match=r"nothing on this machine holds the memory .* for riscv64.* TRUST=1"):
        graded(tmp_path)
    assert not (tmp_path / "graded/grades.csv").exists()


def test_a_group_of_the_system_stands_in_front_of_a_sandbox(monkeypatch, tmp_path):
    """A script in the place of systemd-run: it notes the limit, and runs the command behind it."""
    script, asked = tmp_path / "systemd-run", tmp_path / "asked"
    script.write_text(f'#!/bin/sh\necho "$@" > {asked}\nwhile [ "$1" != -- ]; do shift; done; shift\nexec "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv(sandbox.BUS, "/run/user/1")
    inside = Sandbox([], Limits(60, 2, grouped=True))
    found = inside.request(run=["import os\nprint(sorted(os.environ))"])
    inside.close()
    assert not found["error"] and sandbox.BUS not in found["printed"]
    assert "-p MemoryMax=2048M -p MemorySwapMax=0 -- bwrap" in asked.read_text()
