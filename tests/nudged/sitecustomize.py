"""Move the last digits of the package's products, sums and elementary functions, as another processor may.

Python imports this file at its start if its folder is on PYTHONPATH.  A number x becomes x (1 + k 2^-52), with k one of
-4 ... -1, 1 ... 4 by a hash of the bits of |x| and of the seed in NUDGED: the same call gives the same bits again, -x
moves as x does, and a symmetric matrix stays symmetric, so only what depends on rounding changes.  Numbers that every
order of summation finds exactly (whole, or of a few binary digits) stay, and none crosses 1.  Eigenvectors take any
sign.  The products of a notebook's cells are moved, too, and each product, quotient and elementary function in a loop
that Numba compiles.  Such loops are kept in a folder of their own: no other run may find them.
"""

import ast
import builtins
import os
import sys
from hashlib import md5
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np

LARGEST = 4  # units in the last place
BLOCK = 2**13  # numbers moved at a time: the memory that this takes is not the package's
ROOT = Path(__file__).resolve().parents[2]
REWRITTEN = tuple(str(ROOT / name) + os.sep for name in ("bmlab", "claims", os.path.join("notebooks", "tables")))
SEED = np.uint64(0x9E3779B97F4A7C15 * (2 * int(os.environ.get("NUDGED") or 0) + 1) % 2**64)
# Functions that every processor rounds correctly (sqrt, outer) are not among them, nor those that return a tuple.
OF_NUMPY = {"exp", "expm1", "log", "log1p", "logaddexp", "tanh", "cosh", "sinh", "arctanh", "power"}
OF_NUMPY |= {"dot", "einsum", "sum", "mean"}
OF_LINALG = {"solve", "inv", "cholesky", "eigvalsh"}
METHODS = {"sum", "mean", "dot"}


def nudged(x):
    """Return an array, a number or a sparse matrix of doubles with other last digits; anything else as it is."""
    numbers = x.data if hasattr(x, "indptr") else x
    if type(numbers) not in (np.ndarray, np.float64) or numbers.dtype != float:
        return x
    if not isinstance(numbers, np.ndarray):
        return moved(np.array([x]))[0]
    own = numbers.flags.owndata and numbers.flags.writeable and numbers.flags.forc
    changed = numbers if own else numbers.copy()  # einsum may return a view
    flat = changed.ravel(order="K")
    for k in range(0, flat.size, BLOCK):
        flat[k : k + BLOCK] = moved(flat[k : k + BLOCK])
    if numbers is x:
        return changed
    x.data = changed
    return x


def moved(a):
    """Return each number of an array a little larger or smaller, by its own bits."""
    with np.errstate(all="ignore"):
        h = np.abs(a).view(np.uint64) ^ SEED
        h = (h ^ (h >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
        k = ((h ^ (h >> np.uint64(29))) % np.uint64(2 * LARGEST)).astype(float) - LARGEST
        other = a * (1 + np.where(k < 0, k, k + 1) * 2.0**-52)
        stays = (a * 2.0**20 % 1 == 0) | ~np.isfinite(other) | ((np.abs(a) < 1) != (np.abs(other) < 1))
    return np.where(stays, a, other)


def teach_numba():
    """Give Numba nudged() of a double, and a place to keep loops that have it; all other types stay."""
    from numba import config, types
    from numba.extending import overload

    version = md5(Path(__file__).read_bytes()).hexdigest()
    config.CACHE_DIR = str(ROOT / "build" / "nudged" / f"{os.environ.get('NUDGED')}-{version}")  # of this process alone

    @overload(nudged)
    def of_type(x):
        return one_moved if x is types.float64 else lambda x: x


def one_moved(x):
    """moved() of one number in a compiled loop."""
    h = np.float64(abs(x)).view(np.uint64) ^ SEED
    h = (h ^ (h >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    k = np.int64((h ^ (h >> np.uint64(29))) % np.uint64(2 * LARGEST)) - LARGEST
    other = x * (1 + (k if k < 0 else k + 1) * 2.0**-52)
    stays = x * 2.0**20 % 1 == 0 or not np.isfinite(other) or (abs(x) < 1) != (abs(other) < 1)
    return x if stays else other


class Products(ast.NodeTransformer):
    """Write nudged(a @ b) for a @ b."""

    rounded = ast.MatMult

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return wrapped(node) if isinstance(node.op, self.rounded) else node


class Numbers(Products):
    """Write it for sums, elementary functions and solutions, too, and for all products and quotients of a loop."""

    def visit_FunctionDef(self, node):
        is_loop = any(getattr(one, "id", None) in ("_compiled", "_inlined") for one in node.decorator_list)
        (Loops() if is_loop else super()).generic_visit(node)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        return wrapped(node) if is_rounded(node) else node


class Loops(Numbers):
    """In compiled loops Numba chooses the order of a sum, and a product is not rounded before it is added."""

    rounded = ast.MatMult, ast.Mult, ast.Div


def is_rounded(call):
    """Whether the last digits of a call's result depend on the processor."""
    function = call.func
    if isinstance(function, ast.Name):
        return function.id == "log"
    if not isinstance(function, ast.Attribute) or any(one.arg in ("out", "where") for one in call.keywords):
        return False
    name, home = function.attr, ast.unparse(function.value)
    if home in ("np", "np.linalg"):
        return name in (OF_NUMPY if home == "np" else OF_LINALG)
    return name in METHODS or home.split(".")[-1] == "special"


def wrapped(node):
    call = ast.Call(ast.Name("__nudged__", ast.Load()), [node], [])
    return ast.fix_missing_locations(ast.copy_location(call, node))


def get_code(loader, name):
    """Compile the package's own files anew, past the cache, and from here on the cells of its notebook."""
    path = loader.get_filename(name)
    if not path.startswith(REWRITTEN):
        return as_it_was(loader, name)
    if name == "bmlab" and "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if shell:
            shell.ast_transformers.append(Products())
    if name.startswith("bmlab.infer") and b"running.compiling import compiled" in loader.get_data(path):
        teach_numba()  # such a file is imported with Numba alone
    return compile(Numbers().visit(ast.parse(loader.get_data(path))), path, "exec", dont_inherit=True)


def eigh(*args, **options):
    """Return numpy's eigenvectors, each with a sign by the bits of its first number."""
    found = numpys_eigh(*args, **options)
    vectors = found[1]
    bits = np.ascontiguousarray(np.abs(vectors[..., :1, :]), dtype=float).view(np.uint64) ^ SEED
    return found._replace(eigenvectors=vectors * np.where((bits * SEED) >> np.uint64(63), -1.0, 1.0))


as_it_was, numpys_eigh = SourceFileLoader.get_code, np.linalg.eigh
SourceFileLoader.get_code, np.linalg.eigh, builtins.__nudged__ = get_code, eigh, nudged
