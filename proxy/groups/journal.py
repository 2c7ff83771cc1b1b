"""What must survive a kill -9: for each member, what its client was told last.

One file, one JSON line an entry, appended and handed to the kernel at once: the end of the process loses nothing, only
the end of the machine may, and then the members are adopted without it. A line that is cut off is the last, and is
dropped. When more than half of the lines are of the past the file is written anew beside the old one and put in its place.

It is one process' own, for as long as that lives: another would put its own file in this one's place, and what is appended
here would be appended to nothing. A file beside it is locked, for the journal itself is replaced now and then.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import msgspec

from proxy.logs import Log
from translation.events import JournalEntry

Key = tuple[str, str]

FEWEST_TO_COMPACT = 1_000
# A file beside it.
LOCK = ".lock"
# How the line of each begins.
HEAD = b'{"group":'


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """`entry` None: the member is over."""

    group: str
    member: str
    entry: JournalEntry | None = None


class CannotJournal(Exception):
    """The journal's place cannot be used: why."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Record).decode


class Journal:
    """With no path it remembers for as long as the process lives."""

    def __init__(self, path: Path | None, log: Log) -> None:
        self.entries: dict[Key, JournalEntry] = {}
        self._path = path
        self._log = log
        self._lines = 0
        # Something could not be written, or in part: all is written anew, once it can be.
        self._is_behind = False
        self._file = self._lock = -1
        if path is not None:
            try:
                self._open(path)
            except CannotJournal:
                self.close()
                raise

    def remember(self, entry: JournalEntry) -> None:
        key = (entry.group_id, entry.member_id)
        if self.entries.get(key) != entry:
            self.entries[key] = entry
            self._write(Record(*key, entry))

    def forget(self, key: Key) -> None:
        if self.entries.pop(key, None) is not None:
            self._write(Record(*key))

    def close(self) -> None:
        for each in (self._file, self._lock):
            if each >= 0:
                os.close(each)
        self._file = self._lock = -1

    def _open(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._claim(path)
            self._load(path)
            self._compact(path)
        except OSError as failure:
            raise CannotJournal(f"cannot write the journal {path} (`journal`): {failure.strerror}") from failure

    def _claim(self, path: Path) -> None:
        self._lock = os.open(path.with_name(path.name + LOCK), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            why = f"another proxy that is running writes the journal {path} (`journal`): give each its own"
            raise CannotJournal(why) from None

    def _load(self, path: Path) -> None:
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        # A machine that died may leave zeros.
        written = [line for line in (line.strip(b"\0") for line in lines) if line]
        if written and not any(HEAD.startswith(line[: len(HEAD)]) for line in written):
            raise CannotJournal(
                f"{path} (`journal`) is no journal, and would be overwritten: name another file, or remove it"
            )
        for number, line in enumerate(lines, 1):
            try:
                read = _decode(line) if line else None
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                self._log.warning("a line of the journal cannot be read", line=number, reason=str(error))
                continue
            if read is not None and read.entry is not None:
                self.entries[read.group, read.member] = read.entry
            elif read is not None:
                self.entries.pop((read.group, read.member), None)

    def _write(self, record: Record) -> None:
        if self._path is None:
            return
        try:
            if self._is_behind or self._lines > max(2 * len(self.entries), FEWEST_TO_COMPACT):
                self._compact(self._path)
            else:
                _write_whole(self._file, _encode(record) + b"\n")
                self._lines += 1
        except OSError as failure:
            self._is_behind = True
            self._log.error("the journal cannot be written", path=str(self._path), reason=str(failure))

    def _compact(self, path: Path) -> None:
        """A crash leaves the old file or the new one, whole."""
        beside = path.with_name(path.name + ".new")
        file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            _write_whole(file, b"".join(_encode(Record(*key, entry)) + b"\n" for key, entry in self.entries.items()))
            os.fsync(file)
            os.replace(beside, path)
        except OSError:
            os.close(file)
            raise
        if self._file >= 0:
            os.close(self._file)
        self._file, self._lines, self._is_behind = file, len(self.entries), False


def is_claimed(path: Path) -> bool:
    """By a proxy that is running. Raises OSError when this one may not ask."""
    try:
        with path.with_name(path.name + LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (FileNotFoundError, NotADirectoryError):
        return False
    return False


def _write_whole(file: int, data: bytes) -> None:
    """On a disk that is nearly full the kernel takes a part, and says why not the rest when it is asked again."""
    while data:
        data = data[os.write(file, data) :]
