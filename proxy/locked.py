"""Whether somebody else has a file to itself: `flock`, which ends with the process that has it."""

from __future__ import annotations

import fcntl
from pathlib import Path


def is_locked(file: Path) -> bool:
    """Raises OSError when this process may not ask."""
    try:
        with file.open("rb") as asked:
            fcntl.flock(asked, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (FileNotFoundError, NotADirectoryError):
        return False
    return False
