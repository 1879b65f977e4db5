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
