"""A student's notebook: the time that it states, and an answer to each question, not before it is asked.

The watch is that of strict readers who sat down with it.  A student who thinks reads 125 words or ten lines of code a
minute, stays three seconds at a formula within a line and 45 at one displayed, a minute at a picture, a minute and a
half at a prediction, two at a live view, and fills a blank in three and a half.  The part before the exercises is
the heart; nobody needs the part below the Close, under Further.
"""

import ast
import re
from itertools import pairwise

import nbformat
import numpy as np
from test_notebooks import FILES, NOTEBOOKS, code_cells, folded, is_blank, pictures, prose

from bmlab_teaching.working_copies import is_teachers, record, without_teachers

FOLD = re.compile(r"\A<details><summary>Answer</summary>\n\n(.*?)\n\n</details>", re.DOTALL)
WORDS_A_MINUTE, LINES_A_MINUTE = 125, 10
INLINE, DISPLAYED, FIGURE, PREDICTION, VIEW, BLANK = 0.05, 0.75, 1, 1.5, 2, 3.5  # minutes for each
HEART = 55  # minutes, before the exercises
STARS = {"★": 6, "★★": 12, "★★★": 20}  # minutes for an exercise: as strict readers judged nine notebooks, on average
HOURS = ["none", "one", "two", "three", "four", "five", "six"]


def minutes(notebook):
    """The minutes that the notebook takes a student who thinks."""
    text = re.sub(r"\]\([^)]*\)|</?\w+>", "] ", "\n".join(prose(notebook)))
    text, displayed = re.subn(r"\$\$.*?\$\$", " ", text, flags=re.DOTALL)
    text, inline = re.subn(r"\$[^$]+\$", " ", text)
    words = sum(bool(re.search(r"\w", word)) for word in text.split())
    code = code_cells(without_teachers(notebook))
    hidden = [cell for cell in code if record(cell) or cell.metadata.get("jupyter", {}).get("source_hidden")]
    lines = sum(len(cell.source.splitlines()) for cell in code if cell not in hidden)
    views = sum(bool(re.search(r"widgets\.(\w+View|explore)\(", cell.source)) for cell in code)
    return (
        words / WORDS_A_MINUTE + INLINE * inline + DISPLAYED * displayed
        + lines / LINES_A_MINUTE + BLANK * sum(map(is_blank, code))
        + VIEW * views + FIGURE * (len(figures(notebook)) - views)
        + PREDICTION * len(list(predictions(notebook)))
    )  # fmt: skip


def minutes_of_exercises(notebook):
    """How long those exercises take that bring points, by their stars."""
    text, _ = section(without_teachers(notebook), "Exercises")
    return sum(
        STARS[stars] for stars in re.findall(r"^\*\*\d\.\*\* \*\w+\.?\* (★+) \(\d points?\)", text, re.MULTILINE)
    )


def front(notebook):
    """The text below the first view: a task with it, then time, needs and goals."""
    return prose(notebook)[1]


def heart(notebook):
    """A notebook up to its exercises."""
    copy = without_teachers(notebook)
    end = next(k for k, cell in enumerate(copy.cells) if re.search("^## Exercises", cell.source, re.MULTILINE))
    copy.cells[end:] = [nbformat.v4.new_markdown_cell(copy.cells[end].source.partition("## Exercises")[0])]
    return copy


def figures(notebook):
    """The words for every picture."""
    return [words for cell in code_cells(notebook) for out in cell.outputs for words in pictures(out)]


def sections(notebook):
    """Title -> the cells of each section; a heading inside a cell opens one, and its cell belongs to both."""
    found, current = {}, []
    for cell in notebook.cells:
        current.append(cell)
        for title in re.findall(r"^## (.+)$", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else ():
            current = found[title] = [cell]
    return found


def section(notebook, title):
    """The prose of one section, from its heading on, and its code."""
    cells = sections(notebook)[title]
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown").split(f"## {title}\n")[1]
    text = re.split(r"^## ", text, flags=re.MULTILINE)[0]
    return text, "\n".join(cell.source for cell in cells if cell.cell_type == "code")


# How long it is


def test_code_is_in_short_cells(notebook):
    for cell in code_cells(without_teachers(notebook)):
        assert len(re.sub("with widgets.predict.*\n", "", cell.source).splitlines()) <= 15, cell.id


def test_it_is_an_evening_and_says_how_long(path, notebook):
    stated = re.search(r"\*\*Time\*\* (\d+) minutes, and (\d+) for the exercises with points", front(notebook))
    found, more = minutes(heart(notebook)), minutes_of_exercises(notebook)
    assert abs(int(stated[1]) - found) <= 1, found
    assert int(stated[2]) == more
    assert found <= HEART


def test_the_hours_of_the_core_are_the_sum_of_its_minutes():
    fronts = [front(nbformat.read(path, 4)) for path in FILES if re.match(r"0[0-5]_|05b_", path.name)]
    stated = np.array([re.search(r"\*\*Time\*\* (\d+) minutes, and (\d+)", text).groups() for text in fronts], int)
    hours = [HOURS[round(total / 60)] for total in stated.sum(axis=0)]
    for page in ("README.md", "docs/teaching.md"):
        text = (NOTEBOOKS.parent / page).read_text(encoding="utf-8")
        assert re.search(r"about (\w+) hours, and (\w+) for the exercises with points", text).groups() == (*hours,), (
            page
        )


def test_the_manual_says_which_notebooks_have_which_kinds_and_numbers_of_one_s_own():
    texts = {path.name.partition("_")[0]: path.read_text(encoding="utf-8") for path in FILES}
    kinds = {name: {*re.findall(r"\*\*\d\.\*\* \*(\w+)\.?\*", text)} for name, text in texts.items()}
    assert all({"Make", "Stretch"} <= found and found & {"Derive", "Data", "Explain"} for found in kinds.values())
    manual = (NOTEBOOKS.parent / "docs/teaching.md").read_text(encoding="utf-8")
    said = (
        re.search(r"each but (.+) a \*Do\*", manual)[1],
        re.search(r"exercise 1 of all notebooks but (.+?)\. ", manual)[1],
    )
    without = [[name for name, found in kinds.items() if "Do" not in found]]
    without += [[name for name, text in texts.items() if "variant(student" not in text]]
    assert [re.findall(r"\w*\d\w*", names) for names in said] == without


def test_what_is_further_is_folded_and_comes_last(notebook):
    if more := sections(without_teachers(notebook)).get("Further"):
        assert more[0].metadata["jp-MarkdownHeadingCollapsed"] and more[-1] == notebook.cells[-1]


# Its parts


def test_what_the_front_promises_the_close_asks_back(notebook):
    promised = re.findall(r"^\d\. \*\*(\w+)\*\* (.+?)[;.]$", front(notebook), re.MULTILINE)
    close, _ = section(notebook, "Close")
    assert promised and promised == re.findall(r"^☐ I can \*\*(\w+)\*\* (.+)\.(?:  )?$", close, re.MULTILINE)


def predictions(notebook):
    """(its question's cell, cells between, text of the answer) of a prediction; the answer, folded in a text below."""
    cells = notebook.cells
    for k, cell in enumerate(cells):
        if "**Predict.**" in cell.source:
            stop = next(m for m in range(k + 1, len(cells)) if cells[m].cell_type == "markdown")
            yield cell, cells[k + 1 : stop], FOLD.match(cells[stop].source)


def test_predictions_have_three_options_and_the_wrong_ones_are_answered(path, notebook):
    found = list(predictions(notebook))
    assert found
    for number, (question, between, answer) in enumerate(found, 1):
        options = question.source.rpartition("**Predict.**")[2]
        assert re.findall(r"^- \*\*([A-Z])\*\*", options, re.MULTILINE) == ["A", "B", "C"], options
        named = [
            name for cell in between for name in re.findall(r'^with widgets.predict\("(.*)"\):$', cell.source, re.M)
        ]
        assert set(named) == {f"{path.stem.partition('_')[0]}.{number}"}, options
        assert answer, f"no folded answer to\n{options}"
        right = re.search(r"\*\*([ABC])\b", answer[1])[1]
        missing = [x for x in "ABC" if x != right and not re.search(rf"\b{x}\b", answer[1])]
        assert not missing, f"{missing} in the answer to\n{options}"


def test_right_letters_fall_alike_over_the_course():
    answers = [answer[1] for path in FILES for *_, answer in predictions(nbformat.read(path, 4))]
    found = [re.search(r"\*\*([ABC])\b", answer)[1] for answer in answers]
    assert all(0.25 <= found.count(letter) / len(found) <= 0.42 for letter in "ABC"), found


def test_nothing_gives_a_prediction_away(notebook):
    """Between a question and its answer stands code alone, and all its output is folded, as the answer is."""
    for question, between, _ in predictions(notebook):
        outputs = [output for cell in between for output in cell.outputs]
        assert outputs and all(map(folded, outputs)), question.source
        assert all("<details><summary>" in output.data["text/html"] for output in outputs)
    story = "\n".join(FOLD.sub("", text) for text in prose(notebook)).partition("## Exercises")[0]
    assert not re.search(r"(?<!^- )\*\*[ABC](\*\*|[.,:])", story, re.MULTILINE)


def test_every_figure_is_told_in_words_of_its_own(notebook):
    words = figures(notebook)
    assert all(re.fullmatch(r"[A-Z].{20,}\.", text) for text in words), words
    assert len(set(words)) == len(words)


def test_sampled_numbers_come_from_a_generator_made_in_their_section(notebook):
    for title, cells in sections(notebook).items():
        source = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        names = [
            name
            for part in ast.parse(source).body
            if not isinstance(part, ast.FunctionDef)
            for name in ast.walk(part)
            if isinstance(name, ast.Name) and name.id == "rng"
        ]
        first = min(names, key=lambda name: (name.lineno, name.col_offset), default=None)
        assert first is None or isinstance(first.ctx, ast.Store), title


# Exercises and close


def test_every_exercise_has_a_graded_answer_or_a_worked_one_for_the_teacher(notebook):
    exercises = [[]]  # the cells of each, from its question on
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and not record(cell) and not is_teachers(cell):
            questions = re.findall(r"^\*\*(\d+)\.\*\* \*", cell.source, re.MULTILINE)
            exercises += [[number] for number in questions] or [[]]
        exercises[-1].append(cell)
    numbered = [(number, cells) for number, *cells in filter(None, exercises) if isinstance(number, str)]
    open_ones = [number for number, cells in numbered if not any(record(c) or is_teachers(c) for c in cells)]
    assert numbered and not open_ones, open_ones


def decimals(cell):
    """The numbers of at least two decimals in each line that a cell prints."""
    printed = "\n".join(output.get("text", "") for output in cell.get("outputs", []))
    return [{*re.findall(r"\d+\.\d\d+", line)} for line in printed.splitlines()]


def test_no_cell_below_an_exercise_gives_its_worked_solution_away(notebook):
    """What brings no points is tried first: none prints, on a line, two numbers of a line of the solution above it."""
    worked = []
    for cell in notebook.cells:
        if is_teachers(cell):
            worked += decimals(cell)
        else:
            assert all(len(mine & yours) < 2 for mine in worked for yours in decimals(cell)), cell.id


def test_each_answer_has_its_own_name_and_its_solution_and_a_locked_test_below_it(notebook):
    """A blank of the story is followed by no test, and an answer marked by a person has a rubric for the teacher."""
    found = [cell for cell in notebook.cells if record(cell)]
    assert len({record(cell)["grade_id"] for cell in found}) == len(found)
    assert all(record(cell)["schema_version"] == 3 for cell in found)
    for cell in notebook.cells:
        assert cell.source.count("### BEGIN SOLUTION") == cell.source.count("### END SOLUTION"), cell.id
        assert ("### BEGIN SOLUTION" in cell.source) == bool(record(cell).get("solution")), cell.id
    for cell in [cell for cell in found if cell.cell_type == "markdown"]:
        about = record(cell)
        assert about["solution"] and about["grade"] and not about["locked"] and about["points"] > 0
        assert re.fullmatch(r"### BEGIN SOLUTION\n.*\n### END SOLUTION", cell.source, re.DOTALL), cell.source
    code = [record(cell) for cell in notebook.cells if cell.cell_type == "code" and not is_blank(cell)]
    tests = [about for about in code if about.get("grade")]
    assert tests and tests == [below for above, below in pairwise(code) if above.get("solution")]
    assert all(about["locked"] and about["points"] > 0 and not about["solution"] for about in tests)
    assert not any(about["locked"] for about in code if about.get("solution"))


def test_the_close_answers_each_question_that_it_asks(notebook):
    close, _ = section(notebook, "Close")
    questions, answers = close.split("**Check yourself**")[1].split("<details><summary>Answers</summary>")
    numbered = [len(re.findall(r"^\d\. ", part, re.MULTILINE)) for part in (questions, answers.split("</details>")[0])]
    assert numbered[0] == numbered[1] > 0
