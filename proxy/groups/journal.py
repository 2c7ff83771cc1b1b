"""What must survive a kill -9: for each member, what its client was told last, if anything; and of which brokers clients
were told.

One file, one JSON line an entry, appended and handed to the kernel at once: the end of the process loses nothing, only
the end of the machine may, and then the members are adopted without it. A line that is cut off is the last, and is
dropped. At the start, and when more than half of the lines are of the past, the file is written anew beside the old one and
put in its place, where there is room for two; where there is not, the old one is written on behind its last whole line.

On a full disk it is *behind*: what it lacks is appended once a second has passed and there is room, in place of what was
written of a line (`catch_up`).

It is one process' own, for as long as that lives: another would put its own file in this one's place, and what is appended
here would be appended to nothing. A file beside it is locked, for the journal itself is replaced now and then. A link to it
is followed once, at the start: what is beside, and what is replaced, is the file, and not the link.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from proxy.locked import is_locked
from proxy.logs import Log
from translation.events import JournalEntry

Key = tuple[str, str]

FEWEST_TO_COMPACT = 1_000
# Files beside it, named so after it.
LOCK, NEW = ".lock", ".new"
# How the line of each begins.
HEAD = b'{"group":'
# No room for what is to be written. It may come back, and what is there is not lost.
FULL = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """`entry` None: the member is over. `nodes`: of no member, the ids of brokers."""

    group: str
    member: str
    entry: JournalEntry | None = None
    nodes: tuple[int, ...] = ()


class CannotJournal(Exception):
    """The journal's place cannot be used: why."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Record).decode


class Journal:
    """With no path it remembers for as long as the process lives."""

    def __init__(self, path: Path | None, log: Log, is_ours: Callable[[str], bool] = lambda group_id: True) -> None:
        """`is_ours`: whether a group is this process'. Others' may stand in the file of a life with other `processes`."""
        self._is_ours = is_ours
        self.entries: dict[Key, JournalEntry] = {}
        # All of which clients were told in this life or, as long as it has told them of none, the one before.
        self.nodes: tuple[int, ...] = ()
        # Something could not be written, or in part.
        self.is_behind = False
        self._path = path
        self._log = log
        # What the file says, in so many whole lines and bytes.
        self._written: dict[Key, JournalEntry] = {}
        self._written_nodes: tuple[int, ...] = ()
        self._lines = self._bytes = 0
        # The file may have the beginning of a line behind them.
        self._is_torn = False
        self._fewest_to_compact = FEWEST_TO_COMPACT
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
            self._changed(key)

    def forget(self, key: Key) -> None:
        if self.entries.pop(key, None) is not None:
            self._changed(key)

    def tells_of(self, nodes: Iterable[int]) -> None:
        self.nodes = tuple(sorted(nodes))
        if self._path is not None and not self.is_behind:
            self._write(self._path, [])

    def catch_up(self) -> None:
        """To be called each second: what could not be written gets another chance."""
        if self.is_behind and self._path is not None:
            self._write(self._path, self._lacking())

    def close(self) -> None:
        self.catch_up()
        for each in (self._file, self._lock):
            if each >= 0:
                os.close(each)
        self._file = self._lock = -1
        # The file may be another process' by now. Whose time ends while the last traces are exported, that one will miss.
        self._path = None

    def _changed(self, key: Key) -> None:
        if self._path is not None and not self.is_behind:
            self._write(self._path, [key])

    def _lacking(self) -> list[Key]:
        return [key for key in self._written | self.entries if self._written.get(key) != self.entries.get(key)]

    def _open(self, path: Path) -> None:
        try:
            path = self._path = behind_links(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._claim(path)
            self._load(path)
            self._begin(path)
        except OSError as failure:
            raise CannotJournal(f"cannot write the journal {path} (`journal`): {failure.strerror}") from failure

    def _claim(self, path: Path) -> None:
        self._lock = os.open(path.with_name(path.name + LOCK), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            why = f"another proxy that is running writes the journal {path} (`journal`): give each its own"
            raise CannotJournal(why) from None

    def _begin(self, path: Path) -> None:
        """What a running proxy goes on with, its next start does too."""
        try:
            self._compact(path)
        except OSError as failure:
            if failure.errno not in FULL:
                raise
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._go_on_with_it(path, failure)
            self._is_torn = True
            self._write(path, self._lacking())

    def _load(self, path: Path) -> None:
        *lines, rest = lines_in(path) or [b""]
        for number, line in enumerate(lines, 1):
            self._take_in(number, line)
        self._written, self._written_nodes = dict(self.entries), self.nodes
        self._lines, self._bytes = len(lines), sum(len(line) + 1 for line in lines)
        self._take_in(len(lines) + 1, rest)

    def _take_in(self, number: int, line: bytes) -> None:
        try:
            read = _decode(line) if line else None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            self._log.warning("a line of the journal cannot be read", line=number, reason=str(error))
            return
        if read is not None and read.nodes:
            self.nodes = read.nodes
        elif read is not None and read.entry is not None and self._is_ours(read.group):
            self.entries[read.group, read.member] = read.entry
        elif read is not None:
            self.entries.pop((read.group, read.member), None)

    def _write(self, path: Path, keys: list[Key]) -> None:
        lines = self._lines_of(keys, self._written_nodes)
        data = b"".join(lines)
        try:
            if self._is_torn:
                os.ftruncate(self._file, self._bytes)
            _write_whole(self._file, data)
        except OSError as failure:
            if not self.is_behind:
                self._log.error("the journal cannot be written", path=path, reason=failure.strerror)
            self.is_behind = self._is_torn = True
            return
        self._is_torn = False
        if self.is_behind:
            self.is_behind = False
            self._log.info("the journal is written again", path=path, entries=len(keys))
        self._bytes += len(data)
        self._lines += len(lines)
        self._written_nodes = self.nodes
        for key in keys:
            _copy(key, self.entries, self._written)
        self._tidy(path)

    def _lines_of(self, keys: Iterable[Key], known: tuple[int, ...]) -> list[bytes]:
        """`known`: the brokers of whom the file says so already."""
        records = [Record(*key, self.entries.get(key)) for key in keys]
        if self.nodes != known:
            records.append(Record("", "", nodes=self.nodes))
        return [_encode(each) + b"\n" for each in records]

    def _tidy(self, path: Path) -> None:
        if self._lines > max(2 * len(self.entries), self._fewest_to_compact):
            try:
                self._compact(path)
            except OSError as failure:
                self._go_on_with_it(path, failure)

    def _go_on_with_it(self, path: Path, failure: OSError) -> None:
        """There is no room for two of them; for what is appended there still is."""
        self._log.warning("the journal cannot be written anew", path=path, reason=failure.strerror)
        self._fewest_to_compact = max(FEWEST_TO_COMPACT, 2 * self._lines)

    def _compact(self, path: Path) -> None:
        """A crash leaves the old file or the new one, whole. 5,000 members take 20 ms, after as many changes at least."""
        beside = path.with_name(path.name + NEW)
        lines = self._lines_of(self.entries, ())
        data = b"".join(lines)
        file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            _write_whole(file, data)
            os.fsync(file)
            os.replace(beside, path)
        except OSError:
            os.close(file)
            # It may have taken the last room there was.
            beside.unlink(missing_ok=True)
            raise
        if self._file >= 0:
            os.close(self._file)
        self._file, self._bytes, self._lines = file, len(data), len(lines)
        self._written, self._written_nodes = dict(self.entries), self.nodes
        self._fewest_to_compact = FEWEST_TO_COMPACT


def _copy(key: Key, source: dict[Key, JournalEntry], sink: dict[Key, JournalEntry]) -> None:
    if key in source:
        sink[key] = source[key]
    else:
        sink.pop(key, None)


def behind_links(path: Path) -> Path:
    """The journal itself."""
    return Path(os.path.realpath(path))


def is_claimed(path: Path) -> bool:
    """By a proxy that is running. Raises OSError when this one may not ask."""
    journal = behind_links(path)
    return is_locked(journal.with_name(journal.name + LOCK))


def lines_in(path: Path) -> list[bytes]:
    """Raises CannotJournal where they are another file's, which would be overwritten."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    # A machine that died may leave zeros.
    written = [line for line in (line.strip(b"\0") for line in lines) if line]
    if written and not any(HEAD.startswith(line[: len(HEAD)]) for line in written):
        raise CannotJournal(
            f"{path} (`journal`) is no journal, and would be overwritten: name another file, or remove it"
        )
    return lines


def _write_whole(file: int, data: bytes) -> None:
    """On a disk that is nearly full the kernel takes a part, and says why not the rest when it is asked again."""
    while data:
        data = data[os.write(file, data) :]
