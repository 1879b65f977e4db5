"""What asks, a page of JupyterLab, VS Code or Colab or a program that stores what a cell shows; and a figure for it."""

import sys
from html import escape


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


def show(alt: str) -> None:
    """Show the current figure and close it; alt says in words what it shows, for those who hear it instead.

    A notebook that is run by a program stores the words with the picture; `jupyter nbconvert --template classic` puts
    them into its page.  JupyterLab drops them, so a page gets HTML, at twice the pixels for dense displays.

    >>> _ = plt.plot([0, 1], [0, 1])
    >>> plot.show("A line that rises.")
    """
    import matplotlib.pyplot as plt

    if "inline" not in plt.get_backend():
        plt.show()
        return
    from IPython.core.pylabtools import retina_figure
    from IPython.display import display

    if cell_of_request():
        drawn = retina_figure(plt.gcf(), base64=True, bbox_inches="tight")
        picture, size = drawn or ("", {"width": 0})  # nothing is drawn of a figure without axes
        html = f'<img alt="{escape(alt)}" width="{size["width"]}" src="data:image/png;base64,{picture.strip()}">'
        display({"text/html": html, "text/plain": alt}, raw=True)
    else:
        display(plt.gcf(), metadata={"image/png": {"alt": alt}})
    plt.close()
