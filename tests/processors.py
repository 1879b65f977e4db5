"""Run the notebooks, and tests if named, as other processors would, and list what differs: make processors.

OpenBLAS, NumPy and Numba choose their code by the processor, and the last digits of a sum depend on the order in which
it is taken.  Each line of PROCESSORS is a set of variables that makes them choose as on another machine.  What this
processor cannot run, or chooses by itself, is said to be skipped.  Those called nudged run anywhere
(nudged/sitecustomize.py).

    python tests/processors.py [--on NAME]... [notebook, or test, ...]
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AVX512, AVX2 = r"AVX512|X86_V4", r"AVX|FMA|X86_V[34]"
BLAS = ("Haswell", "SkylakeX", "Zen", "Sandybridge", "Prescott")
PROBE = """
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
a = numpy.random.default_rng(0).normal(size=(150, 150))
scipy.linalg.solve(a @ a.T, numpy.exp(numpy.linalg.eigh(a + a.T)[1]))
print(*sorted({one["architecture"] for one in threadpool_info() if one["internal_api"] == "openblas"}))
"""


def without(features):
    """The variable that turns off features of this processor that NumPy would choose."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    off = [name for name in __cpu_dispatch__ if __cpu_features__[name] and re.match(features, name)]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(off)}


def nudged(seed):
    """The variables that move the last digits of each product."""
    path = [str(Path(__file__).parent / "nudged"), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, path)), "NUDGED": str(seed)}


PROCESSORS = {
    **{name: {"OPENBLAS_CORETYPE": name} for name in BLAS},
    "AVX2-only": {"OPENBLAS_CORETYPE": "Haswell"} | without(AVX512),  # as a processor of AMD before Zen 4 chooses
    "NumPy-without-AVX512": without(AVX512),
    "NumPy-without-AVX2": without(AVX2),
    "Numba-generic": {"NUMBA_CPU_NAME": "generic"},
    "nudged": nudged(2),
    "nudged-again": nudged(3),
}


def kernels(variables):
    """Return which kernels OpenBLAS takes, and None if this processor cannot run them."""
    found = subprocess.run([sys.executable, "-c", PROBE], env=os.environ | variables, capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def skipped(variables):
    """Say why a line cannot be tried here, or need not be; the empty string if it is another processor."""
    chosen, own = kernels(variables), kernels({})
    if chosen is None:
        return "this processor cannot run it"
    if variables.get("OPENBLAS_CORETYPE", chosen) != chosen and chosen in ("", own):
        return "OpenBLAS has no such kernel here"
    others = [value for name, value in variables.items() if name != "OPENBLAS_CORETYPE"]
    return "" if chosen != own or any(others) else "this processor chooses the same by itself"


def differing(variables, targets, log):
    """Run pytest under the variables: its closing line, and one line for each cell or test that fails."""
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env"]
    command += ["-rfE", "--color=no", "-p", "no:cacheprovider", *targets]
    with open(log, "w", encoding="utf-8") as out:
        subprocess.run(command, cwd=ROOT, env=os.environ | variables, stdout=out, stderr=subprocess.STDOUT)
    text = log.read_text(encoding="utf-8")
    return text.splitlines()[-1].strip("= "), re.findall(r"^(?:FAILED|ERROR) .*", text, re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--on", action="append", choices=PROCESSORS, metavar="NAME", help=", ".join(PROCESSORS))
    parser.add_argument("targets", nargs="*", default=["notebooks"], help="notebooks and tests; default: all notebooks")
    given = parser.parse_args()
    logs = ROOT / "build" / "processors"
    logs.mkdir(parents=True, exist_ok=True)
    found = []
    for name in given.on or PROCESSORS:
        why = skipped(PROCESSORS[name])
        closing, lines = (
            (f"skipped: {why}", []) if why else differing(PROCESSORS[name], given.targets, logs / f"{name}.log")
        )
        print(f"{name:22}{closing}", *lines, sep="\n    ", flush=True)
        found += lines
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
