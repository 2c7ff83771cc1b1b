"""What strangers said, on a terminal: group ids, client ids and names of brokers can hold anything.

What can't be printed is escaped, so that it moves no cursor, sets no title, begins no line and turns no word around.
"""

from __future__ import annotations


def printable(text: str) -> str:
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def table(columns: tuple[str, ...], body: list[tuple[str, ...]]) -> str:
    rows = [columns, *(tuple(map(printable, row)) for row in body)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(columns))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
