"""Each limit of what is read, carried and shown: what just fits is taken whole, and one more is not."""

import ast
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from selection import exhaustive

from bmlab_teaching import cells
from bmlab_teaching.cells import Page, packed, plain
from bmlab_teaching.deliveries import tidy
from bmlab_teaching.grading import kept_beside
from bmlab_teaching.pages import code, shape
from bmlab_teaching.reading import File, Reader, TooMuch, is_notebook, read_cells

MB = 2**20


def notebook(*sources):
    """The bytes of a notebook of these cells."""
    return json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]}).encode()


@pytest.mark.parametrize(("count", "size"), [(2000, 2000), (1, 200 * MB)])
def test_of_a_delivery_2000_files_and_200_mb_are_read(count, size):
    reader = Reader()
    for _ in range(count):
        reader.count(size // count)
    words = "it holds more than 200 MB or 2000 files; what came after was not read"
    with pytest.raises(TooMuch, match=f"^{words}$"):
        reader.count(size == 200 * MB)


def test_of_a_notebook_2000_cells_and_2_mb_of_text_are_read():
    assert len(read_cells(notebook(*["x"] * 2000))) == 2000
    assert len(read_cells(notebook("x" * 2 * MB))[0].source) == 2 * MB
    for sources in (["x"] * 2001, ["x" * 2 * MB, "y"]):
        with pytest.raises(ValueError, match=r"^it has more than 2000 cells or 2 MB of text, so it is not read$"):
            read_cells(notebook(*sources))


@pytest.mark.parametrize("form", ["utf-8", "utf-8-sig", "utf-16", "worksheets"])
def test_a_notebook_is_read_in_each_form_and_what_is_none_is_told(form):
    about = json.loads(notebook("ä = 1"))
    data = json.dumps(about if form != "worksheets" else {"worksheets": [about, about]}, ensure_ascii=False)
    found = read_cells(data.encode("utf-8" if form == "worksheets" else form))
    assert [cell.source for cell in found] == ["ä = 1"] * (2 if form == "worksheets" else 1)
    for damaged in (b"", b"{}", b"[1]", b'{"cells": [1]}', b'{"cells": 3}', b"[" * 10**5):
        with pytest.raises(ValueError, match=r"^it cannot be read as a notebook$"):
            read_cells(damaged)


def test_of_a_file_30_mb_are_read(tmp_path):
    (tmp_path / "a.txt").write_bytes(bytes(30 * MB))
    (tmp_path / "b.txt").write_bytes(bytes(30 * MB + 1))
    found = {one.name: (len(one.data), one.problem) for one in Reader().files_of([("", "", str(tmp_path), [])])}
    words = "it is larger than 30 MB, so it is not read; clear the outputs of a notebook"
    assert found == {"a.txt": (30 * MB, ""), "b.txt": (0, words)}


def zipped(**files):
    """The bytes of a zip."""
    with zipfile.ZipFile(content := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


def opened(name, data):
    """What is read of a file."""
    return [(one.name, one.problem, one.folders) for one in Reader().opened(name, data, ("",), 0, ("ann",))]


def test_a_zip_in_a_zip_is_read_and_one_in_that_is_told():
    inner = zipped(**{"deep/a.ipynb": b"{}", "deep/__pycache__/b.pyc": b"", "c/": b""})
    twice = zipped(**{"b.zip": inner})
    assert opened("c.zip", twice) == [("a.ipynb", "", ("deep",))]
    assert opened("d.ZIP", zipped(**{"c.zip": twice})) == [("b.zip", "it is a zip in a zip in a zip", ())]


@pytest.mark.parametrize(
    ("name", "is_looked_into"),
    [
        ("work.zip", True), ("work", True), ("work.ZIP", True), ("table.xlsx", False), ("essay.docx", False),
        ("a.ipynb", False),
    ],
)  # fmt: skip
def test_a_zip_is_looked_into_and_an_office_document_is_a_file(name, is_looked_into):
    found = opened(name, zipped(**{"a.txt": b"1"}))
    assert found == ([("a.txt", "", ())] if is_looked_into else [(name, "", ("ann",))])


@pytest.mark.parametrize(
    "name", ["a.tar", "a.tar.gz", "a.tgz", "a.gz", "a.TBZ", "a.bz2", "a.xz", "a.7z", "a.rar", "a.zst"]
)
def test_what_is_packed_in_another_way_is_told(name):
    words = "it is packed in a way that is not read; a zip is, and the notebook itself"
    assert opened(name, b"x") == [(name, words, ())]
    assert opened("work.zip", b"no zip") == [("work.zip", "", ("ann",))]


@pytest.mark.parametrize(
    ("name", "data", "is_one"),
    [
        ("a.ipynb", b"", True), ("a.IPYNB", b"", True), ("a.ipynb.txt", b"", True), ("a.json", b"", True),
        ("a.txt", b' \n{"cells": []}', True), ("a.txt", b'\xef\xbb\xbf{"cells"', True), ("a.jsonl", b"", False),
        ("a.txt", b"x", False), ("a.txt", b'{"other"', False),
    ],
)  # fmt: skip
def test_what_means_to_be_a_notebook(name, data, is_one):
    assert is_notebook(File(name, data, "", ())) == is_one


def test_99_files_travel_beside_a_notebook(tmp_path):
    files = [File(f"{k}.csv", b"x", "", ()) for k in range(100)]
    folder = Path(kept_beside(tmp_path / "beside", files, {()}))
    assert {one.name for one in folder.iterdir()} == {f"{k}.csv" for k in range(99)}


def test_of_an_answer_10000_letters_are_shown():
    for length in (9_999, 10_000, 10_001, 20_000):
        shown = re.sub("<[^>]*>", "", code("x" * length)).strip()
        assert len(shown) == min(length, 10_000)


def test_an_answer_is_compared_if_it_is_longer_than_chance():
    """By the size of its tree, 900 letters, of which `x = ""` has some."""
    empty = len(ast.dump(ast.parse('x = ""')))
    assert not shape(f"x = '{'a' * (900 - empty)}'") and shape(f"x = '{'a' * (901 - empty)}'")
    assert shape(f"x = '{'a' * 900}'") == shape(f"x   = '{'a' * 900}'  # mine") != shape(f"x = '{'b' * 900}'")
    assert shape("no python(") == ""


def test_a_name_of_120_bytes_is_kept_and_a_longer_one_ends_in_its_mark():
    assert tidy("x" * 120) == "x" * 120 and re.fullmatch("x{120} [0-9a-f]{8}", tidy("x" * 121))
    assert re.fullmatch("ä{60} [0-9a-f]{8}", tidy("ä" * 61)) and tidy(" a  b. ") == "a b"
    assert re.fullmatch("a_b [0-9a-f]{8}", tidy("a/b")) and tidy("a/b") != tidy("a:b")


def test_of_what_is_printed_2000_letters_are_kept():
    page = Page()
    for part in ("a" * 1999, "bc", "d"):
        assert page.write(part) == len(part)
    assert page.text == "a" * 1999 + "b"
    for problem, kind, words in (
        (ValueError("w" * 3000), "ValueError", "w" * 2000),
        (type("E" * 300, (Exception,), {})("no"), "E" * 200, "no"),
    ):
        found = cells.attempt(lambda problem=problem: (_ for _ in ()).throw(problem), 60)
        assert found == (None, {"kind": kind, "words": words})


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def test_a_value_of_20_levels_travels_and_a_deeper_one_does_not():
    assert plain(packed(nested(20))) == nested(20)
    for value in (nested(21), [{"a": nested(19)}]):
        with pytest.raises(TypeError, match="is no plain value"):
            packed(value)


def test_a_value_of_16_mb_travels():
    assert len(packed("x" * (16 * MB - 2))) == 16 * MB
    with pytest.raises(ValueError, match=r"^it is larger than 16 MB$"):
        packed("x" * (16 * MB - 1))


@exhaustive
def test_of_an_iterator_a_million_parts_are_read():
    assert len(plain(packed(iter([1] * (10**6 + 1))))) == 10**6
    assert plain(packed(range(3))) == [0, 1, 2] and plain(packed(iter("ab"))) == ["a", "b"]


def test_a_process_may_have_1024_open_files_and_as_many_tasks_as_it_is_told():
    """If the system counts all of a user's processes, as before Linux 5.14, the second limit stays as it was."""
    asks = "import cells, resource; cells.limit_processes(0, 4000)\nfor name in ('NOFILE', 'NPROC'): "
    asks += "print(*resource.getrlimit(getattr(resource, f'RLIMIT_{name}')))"
    command = [sys.executable, "-E", "-c", asks]
    found = subprocess.run(command, cwd=Path(cells.__file__).parent, check=True, capture_output=True, text=True)
    files, tasks = (tuple(map(int, line.split())) for line in found.stdout.splitlines())
    assert files == (1024, 1024) and tasks[0] == tasks[1]


def test_a_number_of_ones_own_has_40_letters():
    from bmlab_teaching.marks import Line

    about = {name: {"student": typed} for name, typed in (("a", "'4711'"), ("b", "0"), ("c", "x" * 50), ("d", ""))}
    assert Line(SimpleNamespace(notebooks=about)).numbers == {"a": "4711", "c": "x" * 40}
