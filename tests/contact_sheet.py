"""Put the pictures of notebooks on one sheet: python tests/contact_sheet.py SHEET.png [--ground dark] [NOTEBOOK ...]

Each stands at 100 %, its cell below it.  --ground is light, dark, or grey for a print without colours; --width 390
shows them as wide as a telephone.  Without notebooks the sheet holds those of the whole course.
"""

import argparse
import base64
from io import BytesIO
from pathlib import Path

import nbformat
from PIL import Image, ImageDraw
from refresh import NOTEBOOKS, pictures

GROUNDS = {"light": "#ffffff", "dark": "#111111", "grey": "#ffffff"}
COLUMN, GAP = 700, 20  # pixels


def pictures_of(path: Path) -> list[tuple[str, Image.Image]]:
    """Each picture of a notebook, with a name for it: 01_theory 26."""
    cells = enumerate(nbformat.read(path, as_version=4).cells)
    found = [(f"{path.stem} {number}", base64.b64decode(png)) for number, cell in cells for png in pictures(cell)]
    return [(name, Image.open(BytesIO(png)).convert("RGBA")) for name, png in found]


def on_ground(image: Image.Image, ground: str, width: int) -> Image.Image:
    """A picture on its ground, at half its pixels or as wide as `width`."""
    paper = Image.new("RGBA", image.size, GROUNDS[ground])
    paper.alpha_composite(image)
    shrink = max(2, image.width / width)
    small = paper.convert("RGB").resize((round(image.width / shrink), round(image.height / shrink)))
    return small.convert("L").convert("RGB") if ground == "grey" else small


def sheet(paths: list[Path], ground: str = "light", width: int = COLUMN, columns: int = 2) -> Image.Image:
    """All pictures in columns, each in the shortest so far."""
    heights, placed = [GAP] * columns, []
    for name, image in [found for path in paths for found in pictures_of(path)]:
        small, column = on_ground(image, ground, width), heights.index(min(heights))
        placed.append((name, small, GAP + column * (width + GAP), heights[column]))
        heights[column] += small.height + 2 * GAP
    paper = Image.new("RGB", (GAP + columns * (width + GAP), max(heights)), GROUNDS[ground])
    draw = ImageDraw.Draw(paper)
    for name, small, x, y in placed:
        paper.paste(small, (x, y))
        draw.text((x, y + small.height + 2), name, fill="#808080")
    return paper


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sheet", type=Path)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(NOTEBOOKS.glob("*.ipynb")))
    parser.add_argument("--ground", choices=GROUNDS, default="light")
    parser.add_argument("--width", type=int, default=COLUMN)
    parser.add_argument("--columns", type=int, default=2)
    options = parser.parse_intermixed_args()
    sheet(options.notebooks, options.ground, options.width, options.columns).save(options.sheet)
