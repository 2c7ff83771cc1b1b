"""Which picture answers which question: bars over time, a row for each member or partition; counts; two things compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from pipeline.shapes import Picture, Rect, Shape, Text, upright
from pipeline.svg import legend, svg

WIDTH, LABEL, ROW, AXIS, NUMBER = 1000, 190, 18, 24, 130
TICKS = 6
# Colours that people with any eyes can tell apart (Okabe and Ito), and grey for nobody.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
PHASES = {"stable": "#009E73", "prepare-rebalance": "#E69F00", "completing-rebalance": "#56B4E9", "absent": "#BBBBBB"}
FOUND = "#CC0000"


class Bar(msgspec.Struct, frozen=True):
    row: str
    from_ns: int
    to_ns: int
    kind: str
    hint: str = ""


class Scale:
    def __init__(self, first_ns: int, last_ns: int) -> None:
        self.first_ns, self.length_ns = first_ns, max(last_ns - first_ns, 1)

    def x(self, at_ns: int) -> float:
        return LABEL + (WIDTH - LABEL - 10) * (at_ns - self.first_ns) / self.length_ns

    def has(self, at_ns: int) -> bool:
        return 0 <= at_ns - self.first_ns <= self.length_ns


def lanes(bars: Sequence[Bar], colours: Mapping[str, str], marks: Iterable[tuple[int, str]] = ()) -> Picture | None:
    """Who was what, when. Marks are (time, what happened): thin red lines over everything."""
    if not bars:
        return None
    rows = {name: place for place, name in enumerate(dict.fromkeys(bar.row for bar in bars))}
    scale = Scale(min(bar.from_ns for bar in bars), max(bar.to_ns for bar in bars))
    height = ROW * len(rows) + AXIS
    shapes: list[Shape] = [_label(name, place) for name, place in rows.items()]
    shapes += [_bar(bar, rows[bar.row], scale, colours) for bar in bars]
    shapes += [upright(scale.x(at), 0, height - AXIS, FOUND, said) for at, said in marks if scale.has(at)]
    shapes += [_tick(n, scale, height) for n in range(TICKS + 1)]
    return Picture(WIDTH, height, tuple(shapes), {kind: colours[kind] for kind in dict.fromkeys(b.kind for b in bars)})


def counts(values: Sequence[float], unit: str, bins: int = 24) -> Picture | None:
    """How many were how long."""
    if not values:
        return None
    top = max(values) or 1.0
    filled = [0] * bins
    for value in values:
        filled[min(int(value / top * bins), bins - 1)] += 1
    height, step = 140, (WIDTH - 60) / bins
    shapes: list[Shape] = []
    for n, count in enumerate(filled):
        tall = (height - AXIS - 10) * count / max(filled)
        hint = f"{top * n / bins:.2f} to {top * (n + 1) / bins:.2f} {unit}: {count}"
        if count:
            shapes.append(Rect(40 + n * step, height - AXIS - tall, step - 2, tall, COLOURS[0], hint))
    for n in range(TICKS + 1):
        shapes.append(Text(40 + (WIDTH - 60) * n / TICKS, height - 6, f"{top * n / TICKS:.2g} {unit}", "middle"))
    return Picture(WIDTH, height, tuple(shapes))


def beside(rows: Sequence[tuple[str, Mapping[str, float | None]]], unit: str) -> Picture | None:
    """For each row, by name, the same thing here and elsewhere: bars under one another, each with its number."""
    known = [value for _, values in rows for value in values.values() if value is not None]
    if not known:
        return None
    colours = palette(name for _, values in rows for name in values)
    shapes: list[Shape] = []
    y = 0
    for label, values in rows:
        shapes.append(Text(LABEL - 6, y + ROW - 5, _short(label), "end"))
        for name, value in values.items():
            shapes += _measured(y, name, value, max(known) or 1.0, colours[name], unit)
            y += ROW - 4
        y += 6
    return Picture(WIDTH, y + 2, tuple(shapes), colours)


def shown(picture: Picture | None) -> str:
    """In a page."""
    return "<p>Nothing to show.</p>" if picture is None else svg(picture) + legend(picture)


def palette(names: Iterable[str]) -> dict[str, str]:
    return {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(dict.fromkeys(names))}


def _bar(bar: Bar, row: int, scale: Scale, colours: Mapping[str, str]) -> Rect:
    x = scale.x(bar.from_ns)
    seconds = (bar.to_ns - bar.from_ns) / 1e9
    hint = f"{bar.row}: {bar.kind} for {seconds:.3f} s {bar.hint}"
    return Rect(x, row * ROW + 2, max(scale.x(bar.to_ns) - x, 0.5), ROW - 4, colours[bar.kind], hint)


def _measured(y: float, name: str, value: float | None, most: float, colour: str, unit: str) -> list[Shape]:
    """What is not known has no bar, and says so."""
    if value is None:
        return [Text(LABEL, y + ROW - 5, "not known")]
    wide = (WIDTH - LABEL - NUMBER) * value / most
    said = f"{value:,.1f}".removesuffix(".0") + f" {unit}"
    bar = [Rect(LABEL, y + 3, wide, ROW - 7, colour, f"{name}: {said}")] if value else []
    return [*bar, Text(LABEL + wide + 5, y + ROW - 5, said)]


def _label(name: str, row: int) -> Text:
    return Text(LABEL - 6, row * ROW + ROW - 5, _short(name), "end")


def _short(name: str) -> str:
    return name if len(name) <= 30 else f"{name[:14]}…{name[-14:]}"


def _tick(n: int, scale: Scale, height: int) -> Text:
    at = scale.length_ns * n / TICKS
    anchor = "end" if n == TICKS else "middle"
    return Text(scale.x(scale.first_ns + int(at)), height - 6, _span(at / 1e9), anchor)


def _span(seconds: float) -> str:
    if seconds >= 7200:
        return f"+{seconds / 3600:.1f} h"
    return f"+{seconds / 60:.1f} min" if seconds >= 120 else f"+{seconds:.1f} s"
