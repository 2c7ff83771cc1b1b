"""Pictures as SVG: bars over time, a row for each member or partition; and a histogram. Text in, text out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import msgspec

WIDTH, LABEL, ROW, AXIS = 1000, 190, 18, 24
TICKS = 6
# Colours that people with any eyes can tell apart (Okabe and Ito), and grey for nobody.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
PHASES = {"stable": "#009E73", "prepare-rebalance": "#E69F00", "completing-rebalance": "#56B4E9", "absent": "#BBBBBB"}


class Bar(msgspec.Struct, frozen=True):
    row: str
    from_ns: int
    to_ns: int
    kind: str
    hint: str = ""


def timeline(bars: Sequence[Bar], colours: Mapping[str, str], marks: Iterable[tuple[int, str]] = ()) -> str:
    """Marks are (time, what happened): thin red lines over everything."""
    if not bars:
        return "<p>Nothing to show.</p>"
    rows = list(dict.fromkeys(bar.row for bar in bars))
    scale = Scale(min(bar.from_ns for bar in bars), max(bar.to_ns for bar in bars))
    height = ROW * len(rows) + AXIS
    body = [_label(name, n) for n, name in enumerate(rows)]
    body += [_bar(bar, rows.index(bar.row), scale, colours) for bar in bars]
    body += [_mark(at, said, scale, height - AXIS) for at, said in marks if scale.has(at)]
    body += [_tick(n, scale, height) for n in range(TICKS + 1)]
    return _svg(height, body) + legend({kind: colours[kind] for kind in dict.fromkeys(bar.kind for bar in bars)})


class Scale:
    def __init__(self, first_ns: int, last_ns: int) -> None:
        self.first_ns, self.length_ns = first_ns, max(last_ns - first_ns, 1)

    def x(self, at_ns: int) -> float:
        return LABEL + (WIDTH - LABEL - 10) * (at_ns - self.first_ns) / self.length_ns

    def has(self, at_ns: int) -> bool:
        return 0 <= at_ns - self.first_ns <= self.length_ns


def palette(names: Iterable[str]) -> dict[str, str]:
    return {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(dict.fromkeys(names))}


def legend(colours: Mapping[str, str]) -> str:
    marks = "".join(
        f'<span><i style="background:{colour}"></i>{escape(kind)}</span>' for kind, colour in colours.items()
    )
    return f'<p class="legend">{marks}</p>'


def histogram(values: Sequence[float], unit: str, bins: int = 24) -> str:
    if not values:
        return "<p>Nothing to show.</p>"
    top = max(values) or 1.0
    counts = [0] * bins
    for value in values:
        counts[min(int(value / top * bins), bins - 1)] += 1
    height, step, most = 140, (WIDTH - 60) / bins, max(counts)
    body = []
    for n, count in enumerate(counts):
        tall = (height - AXIS - 10) * count / most
        hint = f"{top * n / bins:.2f} to {top * (n + 1) / bins:.2f} {unit}: {count}"
        body.append(_rect(40 + n * step, height - AXIS - tall, step - 2, tall, COLOURS[0], hint))
    for n in range(TICKS + 1):
        body.append(_text(40 + (WIDTH - 60) * n / TICKS, height - 6, f"{top * n / TICKS:.2g} {unit}", "middle"))
    return _svg(height, body)


def _bar(bar: Bar, row: int, scale: Scale, colours: Mapping[str, str]) -> str:
    x = scale.x(bar.from_ns)
    seconds = (bar.to_ns - bar.from_ns) / 1e9
    hint = f"{bar.row}: {bar.kind} for {seconds:.3f} s {bar.hint}"
    return _rect(x, row * ROW + 2, max(scale.x(bar.to_ns) - x, 0.5), ROW - 4, colours[bar.kind], hint)


def _rect(x: float, y: float, width: float, height: float, colour: str, hint: str) -> str:
    box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"'
    return f"<rect {box}><title>{escape(hint)}</title></rect>"


def _mark(at_ns: int, said: str, scale: Scale, height: int) -> str:
    x = scale.x(at_ns)
    line = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height}" stroke="#c00" stroke-width="1.5">'
    return f"{line}<title>{escape(said)}</title></line>"


def _label(name: str, row: int) -> str:
    shown = name if len(name) <= 30 else f"{name[:14]}…{name[-14:]}"
    return _text(LABEL - 6, row * ROW + ROW - 5, shown, "end")


def _tick(n: int, scale: Scale, height: int) -> str:
    at = scale.length_ns * n / TICKS
    anchor = "end" if n == TICKS else "middle"
    return _text(scale.x(scale.first_ns + int(at)), height - 6, _span(at / 1e9), anchor)


def _span(seconds: float) -> str:
    if seconds >= 7200:
        return f"+{seconds / 3600:.1f} h"
    return f"+{seconds / 60:.1f} min" if seconds >= 120 else f"+{seconds:.1f} s"


def _text(x: float, y: float, said: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def _svg(height: float, body: Iterable[str]) -> str:
    frame = f'viewBox="0 0 {WIDTH} {height}" xmlns="http://www.w3.org/2000/svg" font-size="11" font-family="sans-serif"'
    return f"<svg {frame}>{''.join(body)}</svg>"
