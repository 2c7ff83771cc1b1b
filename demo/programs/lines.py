"""How the programs of the demo talk: one JSON object a line on stdout. When stdin ends, they are to leave."""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any


def told() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(sys.argv[1])
    return found


def say(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, "at_ms": time.time() * 1000, **fields}), flush=True)


def dismissal() -> threading.Event:
    """Set when stdin ends: politely by whoever started us, or because that one is gone."""
    leave = threading.Event()

    def watch() -> None:
        sys.stdin.read()
        leave.set()

    threading.Thread(target=watch, daemon=True).start()
    return leave
