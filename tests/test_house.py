"""The house: declarations, locks, commands and pages must agree."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint, packages_distributions, requires
from pathlib import Path

import pytest
import yaml
from nbconvert import HTMLExporter
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import bmlab
from bmlab.__main__ import lab_options

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TEACHING = tomllib.loads((ROOT / "teaching" / "pyproject.toml").read_text())["project"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
CONDA_SPECS = [spec for spec in CONDA["dependencies"] if isinstance(spec, str)]
PIP_SPECS = CONDA["dependencies"][-1]["pip"]  # packages that conda leaves to pip; first of all those of this repository
LOCK_LINES = (ROOT / "requirements.lock").read_text().splitlines()
MAKEFILE = (ROOT / "Makefile").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
HEAVY = {"matplotlib", "ipywidgets", "anywidget", "sklearn", "numba", "numpy.ma", "scipy.linalg"}


def requirements(lines):
    """Each line as a (name, Requirement)."""
    parsed = [Requirement(line) for line in lines]
    return [(canonicalize_name(requirement.name), requirement) for requirement in parsed]


def declared():
    """Every direct dependency of the two packages and of the extras, as each pyproject.toml writes it."""
    extras = PROJECT["optional-dependencies"].values()
    mine = [line for line in TEACHING["dependencies"] if line != PROJECT["name"]]
    return requirements(PROJECT["dependencies"] + mine + [line for extra in extras for line in extra])


def bounds(pairs):
    return {name: str(requirement.specifier) for name, requirement in pairs}


def locked():
    """Name -> the set of versions in the lock (more than one if it depends on the platform)."""
    versions = {}
    for name, requirement in requirements(line for line in LOCK_LINES if not line.startswith("#")):
        versions.setdefault(name, set()).add(str(requirement.specifier).removeprefix("=="))
    return versions


def make(*arguments):
    """Run make in the repository, on its own even if these tests were themselves started by make."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *arguments], cwd=ROOT, env=clean, capture_output=True, text=True)


def targets():
    return set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


# Declarations


def test_the_core_needs_three_packages_only():
    assert set(bounds(requirements(PROJECT["dependencies"]))) == {"numpy", "scipy", "threadpoolctl"}


def test_every_dependency_has_a_lower_bound_and_the_same_one_everywhere():
    for name, requirement in declared():
        assert re.fullmatch(r">=\d+(\.\d+)+", str(requirement.specifier)), name
        assert str(requirement.specifier) == bounds(declared())[name], name


def test_conda_and_pip_ask_for_the_same_names_and_bounds():
    conda = bounds(requirements(CONDA_SPECS + PIP_SPECS[2:]))
    assert conda.pop("python") == PROJECT["requires-python"]
    assert conda.pop("pip") == ""
    assert conda == bounds(declared())
    assert PIP_SPECS[:2] == ["-e .", "-e teaching"]


def test_the_extra_test_brings_what_make_check_imports():
    held = {*bounds(requirements(PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"]))}
    below = [each for home in held for each in requirements(requires(home) or ())]
    brought = held | {name for name, requirement in below if "extra" not in str(requirement.marker)}
    homes = packages_distributions()
    core = re.findall(r"tests/test_\w+\.py", make("-n", "check").stdout)
    assert len(core) > 30
    for path in (ROOT / "tests/conftest.py", *map(ROOT.joinpath, core)):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in {name.partition(".")[0] for name in names} - {"bmlab"}:
                assert brought & {canonicalize_name(home) for home in homes.get(name, brought)}, (path.name, name)


def test_the_lock_satisfies_every_bound():
    versions = locked()
    for name, requirement in declared():
        assert versions[name], name
        assert all(requirement.specifier.contains(version) for version in versions[name]), name


def test_the_version_is_the_same_wherever_it_is_written():
    assert re.fullmatch(r"\d+\.\d+\.\d+", bmlab.__version__)
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == bmlab.__version__


@pytest.mark.parametrize("group", PROJECT["entry-points"])
def test_what_other_programs_are_pointed_to_exists(group):
    for name, value in PROJECT["entry-points"][group].items():
        assert issubclass(EntryPoint(name, value, group).load(), HTMLExporter)


# Workflows


def test_the_workflows_try_every_python_that_is_promised():
    promised = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())["jobs"]
    for name in ("course", "package"):
        assert set(jobs[name]["strategy"]["matrix"]["python"]) == promised
    assert PROJECT["requires-python"] == ">=" + min(promised, key=lambda version: int(version.partition(".")[2]))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_what_exists_and_may_change_nothing(path):
    workflow = yaml.safe_load(path.read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    assert workflow["permissions"] == {"contents": "read"} and commands
    for job in workflow["jobs"].values():  # a job that may write runs no code of this repository
        assert "permissions" not in job or not any("run" in step or "checkout" in step["uses"] for step in job["steps"])
    for command in commands:
        assert set(re.findall(r"make (?:\w+=\w+ )*([a-z-]+)", command)) <= targets()
        assert all((ROOT / file).exists() for file in re.findall(r"tests/\w+\.py|requirements.lock", command))
    for step in steps:
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.get("uses", "a/b@" + 40 * "0")), step
        assert "checkout" not in step.get("uses", "") or step["with"] == {"persist-credentials": False}


# Commands of make


def test_the_lab_listens_on_loopback_only_and_keeps_its_token():
    assert "-m bmlab --sources --no-browser" in make("-n", "lab", "SOURCES=1", "LAB_FLAGS=--no-browser").stdout
    options = lab_options(["--no-browser"])
    assert {"--ip=127.0.0.1", "--no-browser", "--LabApp.default_url=/lab/tree/course/course.ipynb"} <= {*options}
    assert not [option for option in options if "token" in option or "password" in option]
    assert ("--allow-root" in options) == (os.getuid() == 0)


def test_where_there_is_no_course_one_sentence_says_where_it_is(tmp_path):
    found = subprocess.run([sys.executable, "-m", "bmlab"], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 1 and len(found.stderr.splitlines()) == 1
    assert "make lab" in found.stderr


ON_WINDOWS = """
import os, sys
import jupyterlab.labapp, nbformat, matplotlib.pyplot  # which have their own ways there
sys.modules.update(dict.fromkeys(["fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"]))
for name in ("fork", "geteuid", "getuid", "killpg", "sched_getaffinity", "setsid"):
    vars(os).pop(name, None)
jupyterlab.labapp.LabApp.launch_instance = lambda argv: print("opened", *argv)
from bmlab.__main__ import main
main([])
from bmlab import widgets
"""


def test_the_course_opens_where_the_system_has_no_modules_of_unix(tmp_path):
    (tmp_path / "notebooks/tables").mkdir(parents=True)
    shutil.copy(ROOT / "notebooks/00_start.ipynb", tmp_path / "notebooks")
    found = subprocess.run([sys.executable, "-c", ON_WINDOWS], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "opened --ip=127.0.0.1" in found.stdout and (tmp_path / "course/00_start.ipynb").exists()


def test_an_unsuitable_python_is_refused_in_one_sentence():
    refused = make("-n", "-B", "setup", "PYTHON=no-such-python")
    assert refused.returncode == 2 and refused.stdout == ""
    assert "bmlab needs Python 3.11 or newer" in refused.stderr and len(refused.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/teaching.md"])
def test_every_command_that_is_mentioned_exists(name):
    text = (ROOT / name).read_text()
    mentioned = set(re.findall(r"(?:`|^ *(?:\$ )?)make ([a-z-]+)", text, re.MULTILINE))
    assert mentioned and mentioned <= targets()
    assert all((ROOT / script).exists() for script in re.findall(r"python ([\w/]+\.py)", text))


# Core


def test_core_is_what_the_core_notebooks_use_and_the_records_of_answers():
    files = [path for path in (ROOT / "notebooks").glob("*.ipynb") if re.match(r"0[0-5]_|05b_", path.name)]
    sources = [path.read_text(encoding="utf-8") for path in files]
    used = set(re.findall(r"bmlab\.(\w+)", "".join(sources))) & set(bmlab.__all__)
    assert set(bmlab.CORE) == used | {"Bounded", "Estimate", "Fit", "Method", "__version__"}
    assert len(bmlab.__all__) == len(set(bmlab.__all__))


# The cost of an import


def test_import_bmlab_and_a_first_machine_load_nothing_heavy():
    show = "import sys, bmlab; bmlab.medium(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "bmlab" in loaded and not loaded & HEAVY


@pytest.mark.parametrize(
    ("module", "package", "install"),
    [("estimators", "sklearn", "scikit-learn"), ("widgets", "traitlets", "anywidget matplotlib")],
)
def test_a_part_of_the_package_whose_library_is_missing_says_what_to_type(module, package, install):
    code = f"import sys; sys.modules[{package!r}] = None; import bmlab; import bmlab.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = f"ModuleNotFoundError: bmlab.{module} needs {package}, which is not installed; pip install {install}"
    assert done.stderr.splitlines()[-1] == expected


def test_parts_are_loaded_when_they_are_first_named_and_only_what_is_public_is_listed():
    show = """
import bmlab
listed = dir(bmlab)
print(bmlab.plot.__name__, bmlab.estimators.__name__, bmlab.widgets.__name__, *listed)
"""
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    first, listed = done.stdout.split()[:3], done.stdout.split()[3:]
    assert first == ["bmlab.plot", "bmlab.estimators", "bmlab.widgets"]
    assert sorted(listed) == sorted([*bmlab.__all__, "estimators", "plot", "widgets"])


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: bmlab.RBM, r"bmlab has no 'RBM'; try bmlab.restricted\(weights, visible_biases, hidden_biases\)"),
        (lambda: bmlab.meanfield, "bmlab has no 'meanfield'; did you mean 'mean_field'?"),
        (lambda: bmlab.toy().fit, r"a machine has no 'fit'; try bmlab.fit\(machine, data, steps=100, rate=0.05\)"),
        (lambda: bmlab.toy().sample, r"a machine has no 'sample'; try bmlab.sample\(machine, 100, rng=0\)"),
        (lambda: bmlab.toy().W, "a machine has no 'W'; try machine.weights"),
        (lambda: bmlab.toy().wieghts, "a machine has no 'wieghts'; did you mean 'weights'?"),
    ],
)
def test_what_others_call_otherwise_is_pointed_to(call, expected):
    with pytest.raises(AttributeError, match=expected):
        call()


def test_a_machine_without_biases_is_told_to_have_some():
    with pytest.raises(ValueError, match=r"biases must be .*; pass np.zeros\(n\)"):
        bmlab.BoltzmannMachine([[0, 1], [1, 0]])
