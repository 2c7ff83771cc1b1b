"""A picture as SVG: to be put into a page, or to be a file."""

from __future__ import annotations

from html import escape

from pipeline.shapes import Picture, Rect, Shape, Text

FONT = 'font-size="11" font-family="sans-serif"'


def svg(picture: Picture) -> str:
    frame = f'viewBox="0 0 {picture.width} {picture.height}" xmlns="http://www.w3.org/2000/svg" {FONT}'
    return f"<svg {frame}>{''.join(map(_drawn, picture.shapes))}</svg>"


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
