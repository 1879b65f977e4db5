"""The notebooks as they are stored, for every test with a fixture `path` or `notebook`, and as they are handed out."""

import json
from pathlib import Path

import nbformat
import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # a busy machine is no error
settings.load_profile("untimed")

LONGEST = ["test_exercises", "test_attacks", "test_proofs", "05_full_learning", "05b_which_method", "07_hidden_units"]
LONGEST += ["06_your_own_data", "08_restricted_machines", "09_handwritten_digits", "test_blanks", "test_variants"]
LONGEST += ["test_marks", "test_class"]
FILES = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def path(request):
    """A notebook of the course, each in turn."""
    return request.param


@pytest.fixture
def notebook(path):
    """The notebook as it is stored, nothing repaired."""
    return nbformat.from_dict(json.loads(path.read_text(encoding="utf-8"), object_hook=join_lines))


def join_lines(record):
    """Join the lists of lines in which a file stores its texts."""
    multiline = {"source", "text"} | {key for key in record if "/" in key and not key.endswith("json")}
    lists = {key: record[key] for key in multiline & record.keys() if isinstance(record[key], list)}
    return record | {key: "".join(lines) for key, lines in lists.items()}


@pytest.fixture(scope="session")
def handouts(tmp_path_factory):
    """The folder that `make handouts` writes."""
    from bmlab_teaching.handouts import hand_out

    out = tmp_path_factory.mktemp("handouts")
    hand_out(FILES[0].parent, out, report=lambda line: None)
    return out


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with the files that take longest: one that began last would keep one worker of two waiting."""
    rank = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
