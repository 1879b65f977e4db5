"""Drawings.  Each function draws its arguments on the given Axes, returns that Axes, and computes nothing.

Rules.  The headline says what to see.  +1 is blue (PLUS), -1 white with a rim (MINUS), not known is grey (OPEN) and
hatched.  Orange pulls together (TOGETHER), purple pushes apart and is dashed (APART), red is a wish that is not met
(UNMET), FAINT is for comparison.  Words stand at the line; there are axes only if a number is read.  A picture has
paper of its own (PAPER) on light pages and dark, as a plate in a book has; words are near black (INK) or a colour dark
enough for words (readable), and the subject is the darkest thing.  One colour a method, readable by colour-blind people
(Okabe and Ito 2008), and a marker, so that nothing is lost in grey.

style    colours, markers, headlines         glyphs     states of a few units
charts   curves, moments, climbs, bounds     networks   machines
sheets   images, a row of pixels each        figures    what a notebook shows
labels   words that nothing strikes
"""

from .charts import bracket, curves, learning, moments, phases
from .figures import apply_style, show
from .glyphs import glyph, states
from .networks import network
from .sheets import answers, images
from .style import (
    APART,
    COLOURS,
    FAINT,
    INK,
    MARKERS,
    MINUS,
    OPEN,
    PAPER,
    PLUS,
    SHADES,
    TOGETHER,
    UNMET,
    headline,
    label_lines,
    readable,
)

__all__ = [
    "APART",
    "COLOURS",
    "FAINT",
    "INK",
    "MARKERS",
    "MINUS",
    "OPEN",
    "PAPER",
    "PLUS",
    "SHADES",
    "TOGETHER",
    "UNMET",
    "answers",
    "apply_style",
    "bracket",
    "curves",
    "glyph",
    "headline",
    "images",
    "label_lines",
    "learning",
    "moments",
    "network",
    "phases",
    "readable",
    "show",
    "states",
]
