"""Each page on a telephone: nothing is cut off, and what goes on beyond the edge says so."""

import pytest
from conftest import Visit
from test_site import PAGES, PHONE

# What is wider than its box on a page, as [what hides or scrolls it, how much of it, whether its edge is shaded]; what is
# only heard, and the pieces of which MathJax makes a long sign, are not seen.
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
