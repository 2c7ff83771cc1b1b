"""The processes of the demo."""

from __future__ import annotations

import subprocess
from pathlib import Path

import trio

from demo.crew import Program

# What it wrote to its pipe comes after it has ended: on a machine that has much else to do.
SLOW = """cat; (sleep 0.3; echo '{"event": "produced"}') &"""


async def test_who_has_left_has_been_heard_to_the_end(tmp_path: Path) -> None:
    """Else the last records are taken for all, and those who would read the rest are sent away."""
    heard = list[str]()
    process = await trio.lowlevel.open_process(["sh", "-c", SLOW], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    program = Program("producer", process, tmp_path / "errors")
    async with trio.open_nursery() as tasks:
        tasks.start_soon(program.listen, lambda name, event: heard.append(event["event"]))
        await program.leave()
        assert heard == ["produced"]
