# The commands of the course. `make` alone lists them.

PYTHON ?= python3
LAB_FLAGS ?=
LOCK_FLAGS ?=

IN_VENV = .venv/bin/python
INSTALL = $(IN_VENV) -m pip install --quiet --disable-pip-version-check
# Twenty times faster; where it finds no packages, behind a mirror that pip alone was told of, pip does the same.
WITH_UV = $(IN_VENV) -m uv pip install --quiet
# A student's packages, of the versions of requirements.lock; then all others.
IN_LAB = .venv/lab
INSTALLED = .venv/installed
FOR_STUDENTS = --constraint requirements.lock --editable ".[lab]" --editable teaching
SOURCES ?=
IN_ROSTER = $(if $(ROSTER),--roster "$(ROSTER)") $(if $(COLUMN),--column "$(COLUMN)")
AS_TEACHER = $(if $(TEACHER),-teacher)
# Many small matrix products side by side: one thread each, or the threads spend their time waiting.
ONE_THREAD = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
# A seed: last digits are moved as on another processor (tests/nudged), and no test may notice.
NUDGED ?=
export NUDGED
# What make check runs: the tests of the methods and learners, each named after its file, and of what these build on.
OF_FILES = $(foreach file,$(wildcard bmlab/infer/*/*.py bmlab/learn/*.py),$(wildcard tests/test_$(basename $(notdir $(file))).py))
CORE = $(patsubst %,tests/test_%.py,plain contract model machines estimate choosing estimators methods) $(OF_FILES) \
	$(addprefix tests/test_fuzz.py::test_,every_function_and_every_argument_has_cases the_calls_that_work_do) \
	tests/test_signatures.py::test_what_draws_takes_a_generator_or_a_seed_by_keyword  # a new one, too
# What make check WHAT=... runs of these, by words in the names of tests, where the word itself would not do.
WHAT ?=
WORDS_ais = annealed_importance or ais- or ais]
WORDS_tempering = tempering or temper- or temper]
WORDS_pcd = contrastive_divergence
WORDS_maximize = maximum_likelihood
ALL_TESTS = $(ONE_THREAD) $(IN_VENV) -m pytest -n 2 --dist loadscope --no-loadscope-reorder --nbval --nbval-current-env
OF_SUBJECT = $(if $(WHAT),-k "$(or $(WORDS_$(WHAT)),$(WHAT))")
# Tolerances, too, must hold on other processors: what make processors runs beside the notebooks.
LAWS = tests/test_contract.py tests/test_maximum_likelihood.py
# The loops of Numba, of full and sparse machines and lattices, and of mean field and Bethe; else the first that meets one waits for its compiler.
COMPILE = "import bmlab; walk = lambda m, n: bmlab.anneal(m, [1, 1], rng=0, start=n * [m.n * [1]]); \
	walk(bmlab.sherrington_kirkpatrick(40, rng=0), 1000); walk(bmlab.ising((40, 40)), 8); walk(bmlab.ising((40, 40)), 40); \
	[ask(m.at(9)) for ask in (bmlab.mean_field, bmlab.bethe) for m in (bmlab.toy(), bmlab.ising((3, 3)))]"
# Beside .venv: JupyterLab would load its extension too, which only JupyterLite can.
LITE_KERNEL = jupyterlite-pyodide-kernel==0.8.6 pkginfo==2.0
OLD_ENOUGH = $(shell $(PYTHON) -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null)
# Some containers set it, and then every kernel compiles all that it imports anew: 7 s a notebook instead of 1.
unexport PYTHONDONTWRITEBYTECODE
PYTHON_CHECK = $(if $(filter True,$(OLD_ENOUGH)),,$(error bmlab needs Python 3.11 or newer and \
	"$(PYTHON)" is not: say which one to use, for example make PYTHON=python3.12 lab))

.PHONY: help setup lab test test-all check processors fuzz lint coverage test-class test-browser test-site refresh handouts grade demo mark bench tables claims lock looks site lite book dist clean

help:  ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

setup: $(INSTALLED)  ## create .venv and install all that is developed with (done once; the others call it)

# The stamps are written last: an interrupted installation is started again.
$(IN_LAB): requirements.lock pyproject.toml teaching/pyproject.toml
	@$(PYTHON_CHECK)
	@echo "1 of 3: making .venv. All three are done once."
	@$(PYTHON) -m venv .venv
	@echo "2 of 3: installing JupyterLab, NumPy, SciPy, Numba and their like (0.8 GB; a minute on a fast line)."
	@$(INSTALL) uv && $(WITH_UV) $(FOR_STUDENTS) || $(INSTALL) $(FOR_STUDENTS)
	@echo "3 of 3: compiling samplers and sweeps."
	@$(IN_VENV) -W ignore -c $(COMPILE)
	@touch $@

$(INSTALLED): $(IN_LAB)
	@echo "Installing what tests, site and benchmarks need, too (0.6 GB); this is done once."
	@$(WITH_UV) --requirement requirements.lock || $(INSTALL) --requirement requirements.lock
	@touch $@

lab: $(IN_LAB)  ## open your copy of the course in JupyterLab (SOURCES=1: the notebooks themselves, with solutions)
	@$(IN_VENV) -m bmlab $(if $(SOURCES),--sources) $(LAB_FLAGS)

test: setup  ## run every notebook, comparing each stored number, the laws and each module's tests (of many alike one: selection.py)
	@$(ALL_TESTS) -m "not exhaustive" teaching/tests notebooks tests

test-all: setup  ## run every test that needs no browser: every slip of every exercise, all attacks, variants, mutants, tables
	@$(ALL_TESTS) teaching/tests notebooks tests

check: setup  ## run what a change of the package must pass: plain.py, laws, fast tests (WHAT=tempering: one subject's; NUDGED=1: last digits moved)
	@$(ONE_THREAD) $(if $(NUDGED),PYTHONPATH="$(CURDIR)/tests/nudged") $(IN_VENV) -m pytest -q -n 2 --dist worksteal -m "not slow" $(OF_SUBJECT) $(CORE)

processors: setup  ## run notebooks, laws and climbs as other processors would (ON="AVX2-only nudged": as these; TESTS=...: more tests)
	@$(ONE_THREAD) PYTEST_ADDOPTS="-n 2 --dist loadscope --no-loadscope-reorder" \
		$(IN_VENV) tests/processors.py $(foreach name,$(ON),--on $(name)) notebooks $(LAWS) $(TESTS)

lint: setup  ## check style, imports and types, of the docstrings' examples too: ruff, import-linter, pyright (Node from the path, or Playwright's)
	@$(IN_VENV) -m ruff format --check .
	@$(IN_VENV) -m ruff check .
	@.venv/bin/lint-imports --no-logo --no-cache
	@$(IN_VENV) tests/test_examples.py build/examples.py
	@PATH="$$PATH:$$(echo "$(CURDIR)"/.venv/lib/python3*/site-packages/playwright/driver)" \
		$(IN_VENV) -m pyright bmlab teaching build/examples.py

fuzz: setup  ## type what people type into every function, and count what came out
	@$(ONE_THREAD) $(IN_VENV) tests/test_fuzz.py all
	@$(ONE_THREAD) MIXED=5000 $(IN_VENV) -m pytest -q tests/test_fuzz.py -k several

coverage: setup  ## print how many lines of bmlab the tests run, and which they do not
	@$(IN_VENV) -m coverage erase
	@$(ONE_THREAD) $(IN_VENV) -m coverage run -m pytest -n 2 --dist loadscope --no-loadscope-reorder tests teaching/tests
	@$(IN_VENV) -m coverage combine --quiet
	@$(IN_VENV) -m coverage report

test-class: setup  ## grade a class of 120 awkward submissions (some minutes; NOTEBOOK=03_gibbs_sampling: of another notebook)
	@$(ONE_THREAD) STUDENTS=120 $(IN_VENV) -m pytest -rP teaching/tests/test_class.py

test-browser: setup  ## drive the notebooks and the live views in Chromium (chromium on the path, or CHROMIUM=...)
	@$(ONE_THREAD) $(IN_VENV) -m pytest tests/browser

test-site: site lite  ## open every page of the site in Chromium, all other hosts refused, and move its live views
	@$(ONE_THREAD) $(IN_VENV) -m pytest tests/site

refresh: setup  ## run the notebooks again and store what they print
	@$(ONE_THREAD) $(IN_VENV) tests/refresh.py

handouts: setup  ## make student versions, zips, and the teacher's page of solutions, in handouts/
	@$(IN_VENV) -m bmlab_teaching handouts

grade: setup  ## grade what was returned: make grade IN=folder-or-zip (OUT=, ROSTER=export.csv) writes to graded/
	@$(ONE_THREAD) $(IN_VENV) -m bmlab_teaching grade $(if $(IN),"$(IN)",$(error say where the returned notebooks \
		are: make grade IN=folder)) $(if $(OUT),--out "$(OUT)") $(IN_ROSTER) $(if $(TRUST),--trust)

demo: setup  ## grade a class of five that ships with the course, in graded/demo
	@$(ONE_THREAD) $(IN_VENV) -m bmlab_teaching --notebooks teaching/demo/notebooks grade teaching/demo/returned --seconds 50 --out graded/demo --roster teaching/demo/export.csv

mark: setup  ## write the tables and pages again, with the points that you gave in by_hand.csv (OUT=, ROSTER=)
	@$(IN_VENV) -m bmlab_teaching mark $(if $(OUT),--out "$(OUT)") $(IN_ROSTER)

bench: setup  ## run each benchmark: most set a peer and bmlab side by side in one process
	@for script in $(wildcard benchmarks/*.py); do echo "$$script"; $(IN_VENV) "$$script" || exit; done

tables: setup  ## make the notebooks' stored tables again (about an hour)
	@for script in notebooks/tables/*.py; do echo "$$script"; $(ONE_THREAD) $(IN_VENV) "$$script" || exit; done
	@$(ONE_THREAD) $(IN_VENV) benchmarks/choosing.py --theories --machines 130 --large 28 --csv notebooks/tables/05_report_card.csv

claims: setup  ## try to refute every sentence of the notebooks; writes tests/claims/verdicts.csv
	@$(ONE_THREAD) $(IN_VENV) tests/claims/referee.py

lock:  ## choose the versions of requirements.lock again (newest: LOCK_FLAGS=--upgrade)
	@$(PYTHON_CHECK)
	@$(PYTHON) -m venv .venv
	@$(INSTALL) uv
	@$(IN_VENV) -m uv pip compile --quiet --universal --fork-strategy fewest --all-extras --no-annotate \
		--custom-compile-command "make lock" $(LOCK_FLAGS) --no-emit-package boltzmann-lab --output-file requirements.lock pyproject.toml teaching/pyproject.toml

site: setup  ## make the course as pages, in build/site (TEACHER=1: with solutions, in build/site-teacher)
	@echo "1 of 2: running what the live views need: minutes the first time, then only what has changed."
	@$(IN_VENV) docs/pages.py $(if $(TEACHER),--teacher)
	@echo "2 of 2: writing the pages, a minute."
	@# -a: all pages are written, for each shows the names of the others
	@$(IN_VENV) -m sphinx --quiet -a -W -n --keep-going -j 2 -c docs -d build/doctrees$(AS_TEACHER) build/pages$(AS_TEACHER) build/site$(AS_TEACHER)
	@echo "They are in build/site$(AS_TEACHER). To see them: $(IN_VENV) -m http.server --directory build/site$(AS_TEACHER)"

looks: setup  ## write docs/looks again: what each notebook looks like, without solutions
	@$(IN_VENV) docs/looks.py

lite: setup  ## make the course as JupyterLab in a page, in build/lite: its Python runs in the reader's browser
	@$(WITH_UV) --no-deps --target build/lite-kernel $(LITE_KERNEL) || \
		$(INSTALL) --no-deps --upgrade --target build/lite-kernel $(LITE_KERNEL)
	@PYTHONPATH="$(CURDIR)/build/lite-kernel" $(IN_VENV) docs/lite.py

book: setup  ## print the core as a PDF, build/book/bmlab.pdf, without solutions (chromium on the path, or CHROMIUM=...)
	@$(IN_VENV) docs/book.py

dist: setup  ## build a wheel and an sdist in dist/, and check them
	@rm -rf dist
	@$(IN_VENV) -m build --installer=uv --outdir dist .
	@$(IN_VENV) -m twine check --strict dist/*

clean:  ## remove .venv, caches and build products
	rm -rf .venv build dist handouts *.egg-info .pytest_cache .hypothesis .ruff_cache .coverage* .ipynb_checkpoints notebooks/.ipynb_checkpoints
	find bmlab teaching tests notebooks -name __pycache__ -type d -prune -exec rm -rf {} +
