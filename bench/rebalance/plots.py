"""python -m bench.rebalance.plots RESULTS.json PICTURE.svg: the medians of `run --json`, a panel for each measure.

Plain SVG, for it is bars and words. The hue says the layout, in the order of the legend; words take the page's colour, so
the picture is readable on dark pages too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from bench.rebalance.measures import Figures, medians

MEASURES = {
    "revoked": "partitions revoked at members that stay",
    "idle_partition_seconds": "partition-seconds nobody owned",
    "late": "records late by over 1 s",
    "max_ms": "longest wait of a record, ms",
    "requests_per_member_s": "requests upstream per member and second",
}
COLOURS = {"direct": "#8a8f98", "proxy": "#2a7de1", "proxy, natives too": "#16a37b"}
LEFT, BAR, GAP, PANEL, WORDS = 16, 14, 28, 150, 46
STYLE = "text{font-size:11px;font-family:sans-serif;fill:#333}@media(prefers-color-scheme:dark){text{fill:#ccc}}"

# One scenario with one strategy: its name, and the medians of each layout.
Group = tuple[str, dict[str, Figures]]


def main(results: str, picture: str) -> None:
    Path(picture).write_text(svg(list(groups(msgspec.json.decode(Path(results).read_bytes())))))


def groups(said: list[dict[str, Any]]) -> Iterator[Group]:
    def key(each: dict[str, Any]) -> tuple[str, str]:
        return each["scenario"], each["strategy"]

    for (scenario, strategy), found in groupby(sorted(said, key=key), key):
        by_layout = {each["layout"]: medians(msgspec.convert(each["runs"], list[Figures])) for each in found}
        yield f"{scenario}, {strategy}", {layout: by_layout[layout] for layout in COLOURS if layout in by_layout}


def svg(found: list[Group]) -> str:
    width = LEFT * 2 + len(found) * group_width()
    height = 30 + len(MEASURES) * (PANEL + WORDS)
    panels = [
        f'<g transform="translate({LEFT},{30 + at * (PANEL + WORDS)})">{"".join(panel(found, measure))}</g>'
        for at, measure in enumerate(MEASURES)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            f"<title>Rebalances: the broker's own translation and the proxy</title><style>{STYLE}</style>",
            *legend(),
            *panels,
            "</svg>\n",
        ]
    )


def group_width() -> int:
    return len(COLOURS) * (BAR + GAP) + GAP


def legend() -> Iterator[str]:
    for at, (layout, colour) in enumerate(COLOURS.items()):
        yield f'<rect x="{LEFT + at * 150}" y="6" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{LEFT + 15 + at * 150}" y="15">{escape(layout)}</text>'


def panel(found: list[Group], measure: str) -> Iterator[str]:
    most = max((getattr(each, measure) or 0 for _, layouts in found for each in layouts.values()), default=0) or 1
    yield f'<text y="14" font-weight="bold">{escape(MEASURES[measure])}</text>'
    for at, (name, layouts) in enumerate(found):
        left = at * group_width()
        yield f'<text x="{left}" y="{PANEL + 16}">{escape(name)}</text>'
        for place, (layout, figures) in enumerate(layouts.items()):
            value = getattr(figures, measure)
            if value is not None:
                yield from bar(left + place * (BAR + GAP), value, most, COLOURS[layout])


def bar(x: int, value: float, most: float, colour: str) -> Iterator[str]:
    height = (PANEL - 40) * value / most
    yield f'<rect x="{x}" y="{PANEL - height:.1f}" width="{BAR}" height="{height:.1f}" fill="{colour}"/>'
    yield f'<text x="{x}" y="{PANEL - height - 3:.1f}">{_shown(value)}</text>'


def _shown(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


if __name__ == "__main__":
    main(*sys.argv[1:])
