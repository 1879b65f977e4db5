"""Move the last digits of every product `a @ b` of the package and of a notebook, as another processor may.

Python imports this file at its start where its folder is on PYTHONPATH.  Each number of a product is moved by up to
1e-14 of itself (sums of a hundred terms differ by a tenth of that; by 1e-13 finite differences would show it).  Numbers
that every order of summation finds exactly, whole or of a few binary digits, stay.  Eigenvectors take any sign.
"""

import ast
import builtins
import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np

SIZE = 1e-14
ROOT = Path(__file__).resolve().parents[2]
REWRITTEN = tuple(str(ROOT / name) + os.sep for name in ("bmlab", "claims", os.path.join("notebooks", "tables")))
rng = np.random.default_rng(int(os.environ.get("NUDGED", "0")))


def nudged(x):
    """Return a product with other last digits."""
    numbers = x.data if hasattr(x, "indptr") else x
    if not isinstance(numbers, (np.ndarray, np.floating)) or numbers.dtype != float:
        return x
    with np.errstate(all="ignore"):
        exact = numbers * 2.0**20 % 1 == 0
        moved = np.where(exact, numbers, numbers * (1 + SIZE * rng.uniform(-1, 1, numbers.shape)))
    if numbers is x:
        return moved[()]
    numbers[:] = moved
    return x


class Products(ast.NodeTransformer):
    """Write nudged(a @ b) for a @ b, but not in what Numba compiles."""

    def visit_FunctionDef(self, node):
        decorators = {getattr(getattr(one, "func", one), "id", None) for one in node.decorator_list}
        return node if decorators & {"compiled", "njit"} else self.generic_visit(node)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
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
    return compile(Products().visit(ast.parse(loader.get_data(path))), path, "exec", dont_inherit=True)


def eigh(*args, **options):
    """Return numpy's eigenvectors, each with a sign by chance."""
    found = numpys_eigh(*args, **options)
    return found._replace(eigenvectors=found[1] * rng.choice([-1, 1], found[0].shape)[..., None, :])


as_it_was, numpys_eigh = SourceFileLoader.get_code, np.linalg.eigh
SourceFileLoader.get_code, np.linalg.eigh, builtins.__nudged__ = get_code, eigh, nudged
