"""Who writes into a folder has it to itself: what one run has aside another would sweep away, or take for its own.

The lock is the kernel's, and ends with its process however that ends. Where this process sees no folder nobody is kept out.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.asking import CannotBeDone

# Readers pass over names that begin so.
LOCK = "_lock"


@contextmanager
def alone(out: str) -> Iterator[None]:
    """The file stays: were it removed, two could each have locked one of that name."""
    if not Path(out).is_dir():
        yield
        return
    with Path(out, LOCK).open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise CannotBeDone(
                f"{lock.read().strip() or 'another run'} writes into {out}: wait until it has ended, or give another folder"
            ) from None
        lock.truncate(0)
        print(f"process {os.getpid()} on {socket.gethostname()}", file=lock, flush=True)
        yield
