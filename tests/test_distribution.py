"""Published files: a wheel that works alone, with the oldest and the newest dependencies; an sdist with all files."""

import re
import subprocess
import sys
import tarfile
import zipfile

import pytest
from test_readme import EXAMPLE, PRINTED, README, ROOT

import bmlab

MODULES = {path.relative_to(ROOT).as_posix() for path in (ROOT / "bmlab").rglob("*") if path.suffix in {".py", ".js"}}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and sdist, the wheel made from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--installer=uv", "--outdir", folder, ROOT], check=True)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def test_the_index_would_take_both(built):
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *built], check=True)


def test_the_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built[0]) as wheel:
        inside = set(wheel.namelist())
    assert inside >= MODULES | {"bmlab/zoo.csv", "bmlab/house_votes_1984.csv", "bmlab/py.typed"}
    assert {name.split("/")[0] for name in inside} == {"bmlab", f"boltzmann_lab-{bmlab.__version__}.dist-info"}


def test_where_an_index_shows_the_readme_no_link_leads_to_a_file_that_is_not_there(built):
    with zipfile.ZipFile(built[0]) as wheel:
        shown = wheel.read(f"boltzmann_lab-{bmlab.__version__}.dist-info/METADATA").decode()
    words = "[02_exact_z](", "docs/getting_started.md"
    assert all(one in README for one in words) and not any(one in shown for one in words)
    assert "**02_exact_z**" in shown and "<img" not in shown and not re.findall(r"\]\((?!https?:|#)", shown)


def test_the_sdist_holds_all(built):
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    with tarfile.open(built[1]) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    assert not {name for name in tracked if name and (ROOT / name).exists()} - inside


@pytest.mark.parametrize("resolution", ["lowest-direct", "highest"])
def test_the_wheel_alone_runs_the_example_of_the_readme(resolution, built, tmp_path):
    uv = [sys.executable, "-m", "uv"]
    python = tmp_path / "env" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "env"], check=True)
    install = [*uv, "pip", "install", "--quiet", "--python", python, "--only-binary", ":all:"]
    subprocess.run([*install, "--resolution", resolution, built[0]], check=True)
    run = [python, "-I", "-c", EXAMPLE]
    printed = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert printed == PRINTED
