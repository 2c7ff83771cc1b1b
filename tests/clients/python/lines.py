"""One JSON object a line: commands arrive on stdin, events leave on stdout. When stdin ends, so does the program, at once."""

from __future__ import annotations

import base64
import json
import os
import queue
import sys
import threading
import time
from typing import Any

Command = dict[str, Any]


def connection() -> dict[str, Any]:
    """What the driver says about the cluster: bootstrap, name, tls, sasl."""
    return json.loads(sys.argv[1])


def emit(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, "at_ms": time.time() * 1000, **fields}), flush=True)


def emit_error(failure: BaseException) -> None:
    emit("error", message=f"{type(failure).__name__}: {failure}")


def unsecured_token(user: str) -> str:
    """A JWT that nobody signed, which the brokers of the tests accept."""
    now = int(time.time())
    parts = [{"alg": "none"}, {"sub": user, "iat": now, "exp": now + 3600}]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, ""])


def commands() -> queue.SimpleQueue[Command]:
    """Filled by a thread, so that the program can poll its consumer meanwhile."""
    arrived: queue.SimpleQueue[Command] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            arrived.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return arrived


def run(program: Any) -> None:
    """Between commands the consumer is polled. A command is the method `do_…` of the program."""
    arrived = commands()
    while program.open:
        try:
            if not arrived.empty():
                command = arrived.get()
                getattr(program, f"do_{command.pop('do')}")(**command)
            elif program.subscribed:
                program.poll()
            else:
                time.sleep(0.02)
        except Exception as failure:
            emit_error(failure)
    emit("closed")
