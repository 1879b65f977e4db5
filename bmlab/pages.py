"""What asks: a page of JupyterLab, VS Code or Colab, or a program that stores what a cell shows."""

import sys


def request() -> dict:
    """Return the request that the kernel answers now; empty where there is no kernel."""
    if "ipykernel" not in sys.modules:
        return {}
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return kernel.get_parent() if kernel else {}


def cell_of_request() -> str | None:
    """Return the cell that a page asks the kernel to run; None where there is no page, or it does not say."""
    return request().get("metadata", {}).get("cellId")
