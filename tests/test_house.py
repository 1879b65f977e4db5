"""The house: what is declared, locked, offered and said must agree."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rattler import MatchSpec

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
CONDA_SPECS = [spec for spec in CONDA["dependencies"] if isinstance(spec, str)]
PIP_SPECS = CONDA["dependencies"][-1]["pip"]  # what conda leaves to pip; first of all the package itself
LOCK_LINES = (ROOT / "requirements.lock").read_text().splitlines()
MAKEFILE = (ROOT / "Makefile").read_text()
HEAVY = {"matplotlib", "ipywidgets", "anywidget", "sklearn", "numba"}


def requirements(lines):
    """Each line as a (name, Requirement)."""
    parsed = [Requirement(line) for line in lines]
    return [(canonicalize_name(requirement.name), requirement) for requirement in parsed]


def declared():
    """Every direct dependency of the package and its extras, as pyproject.toml writes it."""
    extras = PROJECT["optional-dependencies"].values()
    return requirements(PROJECT["dependencies"] + [line for extra in extras for line in extra])


def bounds(pairs):
    return {name: str(requirement.specifier) for name, requirement in pairs}


def locked():
    """Name -> the set of versions in the lock (more than one where it depends on the platform)."""
    versions = {}
    for name, requirement in requirements(line for line in LOCK_LINES if not line.startswith("#")):
        versions.setdefault(name, set()).add(str(requirement.specifier).removeprefix("=="))
    return versions


def make(*arguments):
    """Run make in the repository, on its own even where these tests were themselves started by make."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *arguments], cwd=ROOT, env=clean, capture_output=True, text=True)


def targets():
    return set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())


# What is declared


def test_the_core_needs_three_packages_only():
    assert set(bounds(requirements(PROJECT["dependencies"]))) == {"numpy", "scipy", "threadpoolctl"}


def test_every_dependency_has_a_lower_bound_and_the_same_one_everywhere():
    for name, requirement in declared():
        assert re.fullmatch(r">=\d+(\.\d+)+", str(requirement.specifier)), name
        assert str(requirement.specifier) == bounds(declared())[name], name


def test_conda_and_pip_ask_for_the_same_names_and_bounds():
    conda = bounds(requirements(CONDA_SPECS + PIP_SPECS[1:]))
    assert conda.pop("python") == PROJECT["requires-python"]
    assert conda.pop("pip") == ""
    assert conda == bounds(declared())


def test_the_conda_environment_is_named_and_holds_the_package_itself():
    assert (CONDA["name"], CONDA["channels"]) == ("bmlab", ["conda-forge"])
    assert PIP_SPECS[0] == "-e ."


@pytest.mark.parametrize("spec", CONDA_SPECS)
def test_conda_understands_each_spec(spec):
    name = re.match(r"[a-z-]+", spec)[0]
    assert MatchSpec(spec, strict=True).name.normalized == name


def test_the_lock_satisfies_every_bound():
    versions = locked()
    for name, requirement in declared():
        assert versions[name], name
        assert all(requirement.specifier.contains(version) for version in versions[name]), name


def test_the_lock_holds_versions_and_nothing_else():
    for line in LOCK_LINES:
        assert line.startswith("#") or re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+( ; [\w .<>=!'()]+)?", line), line
        assert not re.search(r"[/\\@]|--|\w:\w", line), line
    assert "make lock" in LOCK_LINES[1]


# What make offers


def test_make_alone_lists_every_command_with_a_word_of_help():
    lines = make("--no-print-directory").stdout.splitlines()
    listed = {line.split()[1] for line in lines if re.match(r"make [\w-]+ +\w+", line)}
    assert listed == targets() and len(lines) == len(listed)


def test_every_listed_command_exists():
    for target in targets():
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


def test_the_lab_listens_on_loopback_only_and_keeps_its_token():
    planned = make("-n", "lab", "LAB_FLAGS=--no-browser").stdout
    (command,) = [line for line in planned.splitlines() if "jupyterlab" in line]
    assert "--ip=127.0.0.1" in command and "--no-browser" in command
    assert "token" not in command and "password" not in command
    assert ("--allow-root" in command) == (os.getuid() == 0)


def test_an_unsuitable_python_is_refused_in_one_sentence():
    refused = make("-n", "-B", "setup", "PYTHON=no-such-python")
    assert refused.returncode == 2 and refused.stdout == ""
    assert "bmlab needs Python 3.11 or newer" in refused.stderr and len(refused.stderr.splitlines()) == 1


def test_the_build_server_runs_make_test():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK) and "\nmake test" in script.read_text()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_that_is_mentioned_exists(name):
    if not (ROOT / name).exists():
        pytest.skip(f"{name} is not written yet")
    mentioned = set(re.findall(r"(?:`|^ *(?:\$ )?)make ([a-z-]+)", (ROOT / name).read_text(), re.MULTILINE))
    assert mentioned and mentioned <= targets()


# What an import costs


def test_import_bmlab_loads_nothing_heavy():
    show = "import sys, bmlab; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "bmlab" in loaded and not loaded & HEAVY
