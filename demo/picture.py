"""The timeline as a picture: a row a partition, a bar as long as somebody held it. Self-contained SVG, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from demo.ledger import Ledger, MemberStory, Span

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 1_000, 52, 20, 96, 30, 22
LEGEND_ROW, LEGEND_COLUMN, LEGEND_COLUMNS = 22, 230, 4
STEP_COLUMN, STEP_COLUMNS = 310, 3
NARROWEST_LABEL = 44
# One hue a place in the group: whoever takes a member's place has its hue, and is solid where that one was hatched.
HUES = (210, 28, 145, 285, 350, 90, 250, 180)

STYLE = """
svg { font: 13px system-ui, sans-serif; background: #fff; color: #1f2328; fill: currentColor; }
.title { font-size: 17px; font-weight: 600; } .faint { fill: #656d76; } .label { fill: #fff; font-size: 11px; }
.grid { stroke: #d0d7de; } .step { stroke: #8c959f; stroke-dasharray: 3 3; }
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117; color: #e6edf3; } .faint { fill: #8d96a0; } .grid { stroke: #30363d; } .step { stroke: #6e7681; }
}
"""


def timeline(ledger: Ledger) -> str:
    """An empty ledger has a picture too, of nothing."""
    moments = [span.since_ms for span in ledger.spans] + [step.at_ms for step in ledger.steps]
    ends = [span.until_ms for span in ledger.spans if span.until_ms is not None]
    return "\n".join(_Drawing(ledger, min(moments, default=0), max(moments + ends, default=1)).lines())


class _Drawing:
    def __init__(self, ledger: Ledger, begin_ms: float, end_ms: float) -> None:
        self._ledger = ledger
        self._begin_ms = begin_ms
        self._end_ms = max(end_ms, begin_ms + 1)
        self._bottom = TOP + ledger.partitions * ROW
        self._steps_top = self._bottom + 64 + LEGEND_ROW * -(-len(ledger.members) // LEGEND_COLUMNS)
        self._fills = {name: f"m{at}" for at, name in enumerate(ledger.members)}

    def lines(self) -> Iterator[str]:
        height = self._steps_top + LEGEND_ROW * -(-len(self._ledger.steps) // STEP_COLUMNS)
        yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
        yield f"<title>Who held which partition when</title><style>{STYLE}</style>"
        yield "<defs>"
        for member in self._ledger.members.values():
            yield self._fill(member)
        yield "</defs>"
        yield f'<text class="title" x="{LEFT}" y="28">Who held which partition when</text>'
        yield f'<text class="faint" x="{LEFT}" y="48">{escape(_caption(self._ledger))}</text>'
        yield from self._rows()
        yield from self._axis()
        yield from self._steps()
        for span in self._ledger.spans:
            yield from self._bar(span)
        yield from self._legend()
        yield from self._named_steps()
        yield "</svg>"

    def _x(self, at_ms: float) -> float:
        share = (at_ms - self._begin_ms) / (self._end_ms - self._begin_ms)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def _fill(self, member: MemberStory) -> str:
        hue = HUES[_place(member.name) % len(HUES)]
        solid, pale = f"hsl({hue} 62% 42%)", f"hsl({hue} 40% 60%)"
        ground, stripe = (solid, solid) if member.is_native else (pale, solid)
        return (
            f'<pattern id="{self._fills[member.name]}" width="6" height="6" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate(45)"><rect width="6" height="6" fill="{ground}"/>'
            f'<rect width="2" height="6" fill="{stripe}"/></pattern>'
        )

    def _rows(self) -> Iterator[str]:
        for number in range(self._ledger.partitions):
            y = TOP + number * ROW + ROW / 2
            yield f'<text class="faint" x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{number}</text>'
            yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'

    def _axis(self) -> Iterator[str]:
        seconds = (self._end_ms - self._begin_ms) / 1000
        every = next((each for each in (1, 2, 5, 10, 20, 60) if seconds / each <= 12), 300)
        for second in range(0, int(seconds) + 1, every):
            x = self._x(self._begin_ms + second * 1000)
            yield f'<text class="faint" x="{x}" y="{self._bottom + 18}" text-anchor="middle">{second} s</text>'

    def _steps(self) -> Iterator[str]:
        for number, step in enumerate(self._ledger.steps, 1):
            x = self._x(step.at_ms)
            yield f'<line class="step" x1="{x}" x2="{x}" y1="{TOP - 16}" y2="{self._bottom}"/>'
            yield f'<text class="faint" x="{x}" y="{TOP - 20}" text-anchor="middle">{number}'
            yield f"<title>{escape(step.text)}</title></text>"

    def _bar(self, span: Span) -> Iterator[str]:
        begin, end = self._x(span.since_ms), self._x(self._end_ms if span.until_ms is None else span.until_ms)
        width = max(round(end - begin, 1), 1)
        y = TOP + span.partition * ROW + (ROW - BAR) / 2
        seconds = (span.since_ms - self._begin_ms) / 1000
        yield f'<rect x="{begin}" y="{y}" width="{width}" height="{BAR}" rx="3" fill="url(#{self._fills[span.member]})">'
        yield f"<title>{escape(span.member)} holds {span.partition} from {seconds:.1f} s</title></rect>"
        if width >= NARROWEST_LABEL:
            yield f'<text class="label" x="{begin + 6}" y="{y + 15}">{escape(span.member)}</text>'

    def _legend(self) -> Iterator[str]:
        for at, member in enumerate(self._ledger.members.values()):
            x, y = LEFT + at % LEGEND_COLUMNS * LEGEND_COLUMN, self._bottom + 36 + at // LEGEND_COLUMNS * LEGEND_ROW
            protocol = "native" if member.is_native else "classic"
            yield f'<rect x="{x}" y="{y}" width="18" height="14" rx="3" fill="url(#{self._fills[member.name]})"/>'
            yield f'<text x="{x + 26}" y="{y + 12}">{escape(member.name)}'
            yield f'<tspan class="faint" dx="6">{escape(member.library)}, {protocol}</tspan></text>'

    def _named_steps(self) -> Iterator[str]:
        for number, step in enumerate(self._ledger.steps):
            x, y = LEFT + number % STEP_COLUMNS * STEP_COLUMN, self._steps_top + number // STEP_COLUMNS * LEGEND_ROW
            yield f'<text class="faint" x="{x}" y="{y}">{number + 1}<tspan dx="8">{escape(step.text)}</tspan></text>'


def _place(name: str) -> int:
    return int(name.rpartition("-")[2]) - 1 if name.rpartition("-")[2].isdigit() else 0


def _caption(ledger: Ledger) -> str:
    return (
        f"{len(ledger.written):,} records written, {len(ledger.read):,} read, {len(ledger.lost):,} lost, "
        f"{ledger.doubled:,} doubled. Hatched: classic. Solid: native. Gaps: nobody held it."
    )
