"""Where the project lives, as [project.urls] of pyproject.toml says: the one setting, empty until it is published.

Whoever publishes writes there

    Source = the repository           pages and the package then name it, and lead to its files
    Homepage = the published pages    a link to the first page is then shown with its picture
    JupyterHub = a hub                each notebook's page then opens there, too
"""

import re
import tomllib
from pathlib import Path, PurePath

URLS = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
SOURCE, PAGES = URLS.get("Source", "").rstrip("/"), URLS.get("Homepage", "")
ON_GITHUB = "".join(re.findall(r"//github\.com/([\w.-]+/[\w.-]+)$", SOURCE))  # the hosts that Binder and Colab read


def file(path: PurePath | str) -> str:
    """The address of a file of the repository."""
    return f"{SOURCE}/blob/main/{path}"
