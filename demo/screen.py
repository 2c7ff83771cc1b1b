"""The terminal: lines of what happens, and on a real one, below them, who owns what now. Elsewhere only the lines."""

from __future__ import annotations

import time
from typing import TextIO

from demo.ledger import Ledger, MemberStory

REDRAW_SECONDS = 0.1
BAR = 24
_UP_AND_CLEAR = "\x1b[{}A\x1b[J"
_LEGACY, _NATIVE, _DIM, _PLAIN = "\x1b[33m", "\x1b[32m", "\x1b[2m", "\x1b[0m"


class Screen:
    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._began = time.monotonic()
        self._drawn_at = 0.0
        self._lines = 0

    def say(self, text: str) -> None:
        self._wipe()
        # What was wiped comes back with the next news.
        self._drawn_at = 0.0
        print(f"{time.monotonic() - self._began:6.1f} s  {text}", file=self._out, flush=True)

    def show(self, ledger: Ledger, moved: int, to_move: int) -> None:
        """Not more often than eyes follow."""
        now = time.monotonic()
        if not self._is_terminal or now - self._drawn_at < REDRAW_SECONDS:
            return
        self._drawn_at = now
        self._wipe()
        lines = ["", _progress(ledger, moved, to_move), *(_member(member, ledger) for member in ledger.present), ""]
        print("\n".join(lines), file=self._out, flush=True)
        self._lines = len(lines)

    def end(self, text: str) -> None:
        self._wipe()
        print(text, file=self._out, flush=True)

    def _wipe(self) -> None:
        if self._lines:
            self._out.write(_UP_AND_CLEAR.format(self._lines))
            self._lines = 0


def _progress(ledger: Ledger, moved: int, to_move: int) -> str:
    done = BAR * moved // to_move
    bar = "█" * done + "░" * (BAR - done)
    behind = len(ledger.written) - len(ledger.read)
    counts = f"{len(ledger.written):,} written  {len(ledger.read):,} read  {max(behind, 0):,} under way"
    return f"  {bar}  {moved} of {to_move} native   {counts}"


def _member(member: MemberStory, ledger: Ledger) -> str:
    colour = _NATIVE if member.is_native else _LEGACY
    cells = " ".join(str(number) if number in member.owned else "·" for number in range(ledger.partitions))
    protocol = "native" if member.is_native else "classic"
    return f"  {colour}{member.name:<7}{_PLAIN} {cells}  {_DIM}{member.library}, {protocol}{_PLAIN}"


def summary(ledger: Ledger) -> str:
    """What is left when all is over."""
    lines = [
        "",
        f"  written {len(ledger.written):>9,}",
        f"  read    {len(ledger.read):>9,}",
        f"  lost    {len(ledger.lost):>9,}",
        f"  doubled {ledger.doubled:>9,}",
        f"  partitions given to one while another held them: {ledger.held_twice()}",
        "",
        f"  {'member':<8} {'library':<16} {'protocol':<9} {'read':>8} {'disturbed':>10} {'taken':>6} {'silence':>9}",
    ]
    return "\n".join([*lines, *(_row(member) for member in ledger.members.values()), ""])


def _row(member: MemberStory) -> str:
    protocol = "native" if member.is_native else "classic"
    return (
        f"  {member.name:<8} {member.library:<16} {protocol:<9} {member.records:>8,} {member.disturbances:>10}"
        f" {member.partitions_taken:>6} {member.longest_silence_ms:>6.0f} ms"
    )
