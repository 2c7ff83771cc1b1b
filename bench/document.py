"""Sections of docs/benchmarks.md, each written by its bench between two markers."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path

DOCUMENT = Path(__file__).parents[1] / "docs/benchmarks.md"


def write_section(name: str, command: str, text: str) -> None:
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    said = DOCUMENT.read_text()
    before, found, rest = said.partition(begin)
    if not found:
        raise ValueError(f"{DOCUMENT} has no {begin}")
    machine = f"{os.cpu_count()} shared cores, Python {platform.python_version()}, Linux {platform.release()}"
    head = f"Written by `{command}` on {datetime.date.today()}; {machine}.\n"
    DOCUMENT.write_text(f"{before}{begin}\n{head}\n{text}\n{end}{rest.partition(end)[2]}")
