"""A picture as SVG: to be put into a page, or to be a file."""

from __future__ import annotations

import html
import re

from pipeline.shapes import Picture, Rect, Shape, Text

# What XML 1.0 cannot have, not even escaped. Group, client and member ids may be anything.
UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
FONT = 'font-size="11" font-family="sans-serif"'


def svg(picture: Picture) -> str:
    frame = f'viewBox="0 0 {picture.width} {picture.height}" xmlns="http://www.w3.org/2000/svg" {FONT}'
    return f"<svg {frame}>{''.join(map(_drawn, picture.shapes))}</svg>"


def escape(said: str) -> str:
    return html.escape(UNFIT.sub("\ufffd", said))


def legend(picture: Picture) -> str:
    """For a page, which can break lines by itself."""
    marks = "".join(
        f'<span><i style="background:{colour}"></i>{escape(kind)}</span>' for kind, colour in picture.legend.items()
    )
    return f'<p class="legend">{marks}</p>' if marks else ""


def _drawn(shape: Shape) -> str:
    match shape:
        case Rect():
            box = f'x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}"'
            return f'<rect {box} fill="{shape.colour}">{_hint(shape.hint)}</rect>'
        case Text():
            where = f'x="{shape.x:.1f}" y="{shape.y:.1f}" text-anchor="{shape.anchor}"'
            return f"<text {where}>{escape(shape.said)}</text>"


def _hint(said: str) -> str:
    return f"<title>{escape(said)}</title>" if said else ""
