"""What a picture is made of, in dots from the top left; svg.py and png.py show it, each in its own way."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

MARGIN, SWATCH, LETTER = 8, 11, 6.2
STROKE = 1


class Rect(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float
    colour: str
    hint: str = ""


def upright(x: float, y: float, height: float, colour: str, hint: str = "") -> Rect:
    """A line at `x`: something happened."""
    return Rect(x - STROKE / 2, y, STROKE, height, colour, hint)


class Text(msgspec.Struct, frozen=True):
    """`y` is where it stands; `anchor` is what of it lies at `x`: start, middle or end."""

    x: float
    y: float
    said: str
    anchor: str = "start"


Shape = Rect | Text


class Picture(msgspec.Struct, frozen=True):
    width: int
    height: int
    shapes: tuple[Shape, ...]
    # What the colours mean.
    legend: Mapping[str, str] = {}

    def alone(self) -> Picture:
        """As a file of its own: with its legend beneath, in as many rows as that takes."""
        shapes, x, y = list(self.shapes), float(MARGIN), self.height + MARGIN
        for kind, colour in self.legend.items():
            needs = SWATCH + 6 + LETTER * len(kind) + 2 * MARGIN
            if x > MARGIN and x + needs > self.width:
                x, y = float(MARGIN), y + 2 * MARGIN
            shapes += [Rect(x, y, SWATCH, SWATCH, colour), Text(x + SWATCH + 6, y + SWATCH - 1, kind)]
            x += needs
        return Picture(self.width, y + 2 * MARGIN if self.legend else self.height, tuple(shapes))
