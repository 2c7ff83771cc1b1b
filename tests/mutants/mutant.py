"""One breakage: where, what is written there, what instead, and which rule that breaks."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Outdated(Exception):
    """The code has moved on: the text is no longer there, or no longer just once."""


class Mutant(NamedTuple):
    file: str
    old: str
    new: str
    breaks: str
    package: str = "translation"
    # Where no playbook and no story can: the test that must.
    noticed_by: str = ""

    def applied_to(self, tree: Path) -> None:
        path = tree / self.package / self.file
        path.write_text(self.of(path.read_text()))

    def of(self, source: str) -> str:
        found = source.count(self.old)
        if found != 1:
            raise Outdated(f"{self.package}/{self.file}: found {found} times: {self.old!r}")
        return source.replace(self.old, self.new)
