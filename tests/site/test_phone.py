"""Each page on a telephone: nothing is cut off, and what goes on beyond the edge says so."""

import re

import pytest
from conftest import Visit
from test_site import COURSE, PAGES, PHONE, alive, first_pages, views_of

# What is wider than its box on a page, as [what hides or scrolls it, how much of it, whether its edge is shaded]; not
# what is only heard, nor the pieces of which MathJax makes a long sign.
WIDER = """() => [...document.querySelectorAll('article *:not(mjx-assistive-mml, mjx-assistive-mml *, mjx-ext, svg *)')]
    .filter(x => x.clientWidth > 1 && x.scrollWidth > x.clientWidth + 1).map(x => [x, getComputedStyle(x)])
    .filter(([, style]) => style.overflowX !== 'visible')
    .map(([x, style]) => [style.overflowX, `${x.scrollWidth} of ${x.outerHTML.slice(0, 200)}`,
        style.backgroundImage.includes('gradient') && style.backgroundAttachment.includes('local')])"""


@pytest.mark.parametrize("name", PAGES)
def test_on_a_telephone_what_is_wider_than_the_page_is_scrolled_and_says_so(browser, address, name):
    visit = Visit(browser, address, **PHONE)
    page = visit.open(name)
    if page.locator(".math").count():
        page.wait_for_function("() => globalThis.MathJax?.startup?.promise")
        page.evaluate("() => MathJax.startup.promise")
    for folded in page.locator("article details").all():
        folded.evaluate("details => { details.open = true; }")
    wider = page.evaluate(WIDER)
    assert [what for how, what, _ in wider if how in ("hidden", "clip")] == []
    assert [what for _, what, shaded in wider if not shaded] == []
    visit.context.close()


def test_on_a_telephone_the_map_of_the_course_is_read_without_a_scroll(browser, address):
    visit = Visit(browser, address, **PHONE)
    page = visit.open("notebooks/00_start.html")
    lines = page.locator("#the-map tr")
    assert lines.count() > 10
    wide = "rows => rows.flatMap(row => [...row.cells]).filter(cell => cell.scrollWidth > cell.clientWidth + 1).length"
    assert lines.evaluate_all(wide) == 0
    names = page.locator("#the-map td:first-child")
    assert names.evaluate_all("cells => cells.every(cell => cell.clientHeight < 40)")  # on one line each
    assert all(line.bounding_box()["x"] + line.bounding_box()["width"] <= 390 for line in lines.all())
    visit.context.close()


def test_columns_of_a_table_of_pandas_stand_apart(visit):
    page = visit.open("notebooks/06_your_own_data.html")
    gap = "cells => Math.min(...cells.map(cell => parseFloat(getComputedStyle(cell).paddingLeft)))"
    assert page.locator("table.dataframe :is(td, th)").evaluate_all(gap) >= 6


@pytest.mark.parametrize("name", COURSE)
def test_a_view_asks_for_nothing_that_a_finger_cannot_do(browser, address, name):
    visit = Visit(browser, address, **PHONE)
    page = visit.open(name)
    for view in views_of(page):
        live = alive(page, view)
        assert not re.search(r"(?i)\b(point(ed)? at|hover|click|pointer|keys?)\b", live.inner_text())
        for number in live.locator(".bml-drag").all():
            box = number.bounding_box()
            assert min(box["width"], box["height"]) >= 24, box
    visit.context.close()


@pytest.mark.parametrize("name", [name for name in COURSE if re.search("/(01|05b?)_", name)])
def test_a_tap_on_a_weight_tells_its_pair_in_words_of_normal_size(browser, address, name):
    visit = Visit(browser, address, **PHONE)
    page = visit.open(name)
    live = alive(page, views_of(page)[0])
    words = live.locator(".bml-pair-words")
    assert "Press a weight" in words.inner_text()
    weights = live.get_by_role("img", name="weights", exact=True)
    box = weights.bounding_box()
    weights.tap(position={"x": 0.95 * box["width"], "y": 0.15 * box["height"]})  # of the first unit and the last
    assert re.search(r" and .*: .* in the data, .*; weight ", words.inner_text())
    assert float(words.evaluate("words => parseFloat(getComputedStyle(words).fontSize)")) >= 12
    live.get_by_role("button", name="Back to the start").tap()
    squares = [live.get_by_role("img", name=title, exact=True) for title in ("asleep: the dreams", "weights")]
    for square in squares:  # an empty one says that it is
        drawn = square.locator("rect").evaluate_all(
            "all => all.filter(x => +x.getAttribute('fill-opacity') > 0.01).length"
        )
        assert drawn or re.search(r"all 0|not known|0\.00", square.text_content())
    visit.context.close()


# Of each number within a disc: the top of its digits, their foot, the level of the disc, and whether it stands below it
NUMBERS = """view => [...view.querySelectorAll('.bml-node')].map(node => [node.querySelector('.bml-inside'),
        node.querySelector('path')]).filter(([number, fill]) => number?.textContent && fill.getAttribute('d'))
    .map(([number, fill]) => [number.getComputedTextLength() && number.getStartPositionOfChar(0).y,
        parseFloat(getComputedStyle(number).fontSize), fill.getBBox().y, number.style.stroke !== ''])
    .map(([foot, size, level, within]) => ({ top: foot - 0.73 * size, foot, level, within }))"""


@pytest.mark.parametrize("name", [name for name in COURSE if re.search("/(04b?|06|08)_", name)])
def test_a_number_in_a_disc_stands_clear_of_its_level(browser, address, name):
    visit = Visit(browser, address, **PHONE)
    page = visit.open(name)
    seen = 0
    for view in views_of(page):
        live = alive(page, view)
        for _ in range(4):
            for one in live.evaluate(NUMBERS):
                clear = one["top"] >= one["level"] if one["within"] else one["foot"] <= one["level"]
                assert clear, one
                seen += 1
            again = live.get_by_role("button", name=re.compile("^(One update|One message|Step|Free all)$"))
            if again.count():
                again.first.tap()
    assert seen
    visit.context.close()


PLACED = """view => { const all = view.getBoundingClientRect();
    return [...view.querySelectorAll('button')].map(button => button.getBoundingClientRect())
        .map(box => [box.left - all.left, box.top - all.top, box.width].map(Math.round)); }"""


@pytest.mark.parametrize("kind", first_pages())
def test_no_button_moves_away_from_the_finger_that_presses_it(browser, address, kind):
    name, k = first_pages()[kind]
    visit = Visit(browser, address, **PHONE)
    page = visit.open(f"notebooks/{name}.html")
    live = alive(page, page.locator(".bmlab-live").nth(k))
    rows = ".bml-buttons button:not(.bml-shelf button)"
    before = live.evaluate(PLACED)
    for button in live.locator(rows).all():
        if button.is_disabled() or re.search("^(Show it this|Erase)$", button.inner_text()):
            continue  # these change how many patterns there are
        button.tap()
        for _ in range(3):
            page.wait_for_timeout(100)
            assert live.evaluate(PLACED) == before, button.inner_text()
    visit.context.close()
