"""Can what was asked be done? Said before Spark starts, for a mistake in a path should not cost ten seconds.

What lies elsewhere (`hdfs://…`, `s3a://…`, or everything behind Spark Connect) cannot be looked at from here and is
believed.
"""

from __future__ import annotations

import argparse
import glob
import os
import re
import shutil
import socket
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

from pipeline.names import for_python, of_url
from pipeline.tables import ALL

REACH_S = 5
HERE = "local"
SEEDS, LIVE = "seeds", "live"
# What batch does not make.
MADE_BY = {SEEDS: "simulate", LIVE: "stream --kafka BOOTSTRAP"}
# Of lines as the proxy writes them: at twice as many, settings for little and for much were equally fast.
LITTLE_BYTES = 32 * 1024 * 1024
# For each byte of such files, so many when it is unpacked; tables are packed too.
PACKED, PACKINGS = 20, (".gz", ".zst", ".parquet")
READ_BY = {"batch": "input", "report": "out", "show": "out"}
JAVA = re.compile(r"^:? ?(?:\w+\.)+\w*(?:Exception|Error): (.*)", re.MULTILINE)
UNREADABLE = re.compile(r"Encountered error while reading file (\S+)\.\s")
CAUSE = re.compile(r"^Caused by: (?:[\w$]+\.)+[\w$]+: (.*)", re.MULTILINE)


class CannotBeDone(Exception):
    """What is wrong, with the name of the thing, and what to do about it."""


def check(asked: argparse.Namespace) -> None:
    if asked.remote is None:
        _java()
    CHECKS[asked.verb](asked)


def _java() -> None:
    home = os.environ.get("JAVA_HOME")
    where = Path(home) / "bin/java" if home else None
    if where is not None and not where.exists():
        raise CannotBeDone(f"JAVA_HOME is {home}, and there is no bin/java in it: set it to a Java of 17 or newer")
    if where is None and shutil.which("java") is None:
        raise CannotBeDone("Spark needs Java 17 or newer, and there is none on the PATH: install it, or set JAVA_HOME")


def _batch(asked: argparse.Namespace) -> None:
    if not is_elsewhere(asked, asked.input):
        _source(asked.input)
        _out(asked)
        _apart(asked.input, asked.out)


def _source(source: str) -> None:
    _may_be_read(source)
    files, hidden = _files(source), passed_over(source)
    if not files:
        is_there = "nothing in" if glob.glob(for_python(source)) else "no"
        raise CannotBeDone(
            f"there is {is_there} {source}: give a file or a folder of OTLP-JSON lines, as the proxy's traces.file has them"
        )
    if len(files) == len(hidden):
        raise CannotBeDone(f"Spark passes over {hidden[0]}, for names that begin with _ or . are hidden: rename it")


def _may_be_read(source: str) -> None:
    """What one may not look into seems to be empty, or not to be there."""
    try:
        Path(source).stat()
    except PermissionError:
        is_open = False
    except OSError:
        # Perhaps a pattern.
        is_open = True
    else:
        is_open = os.access(source, os.R_OK, effective_ids=True)
    if not is_open:
        raise CannotBeDone(f"{source} may not be read by you: ask as somebody who may, with sudo perhaps")


def passed_over(source: str) -> list[Path]:
    """Files that Spark does not see, by their own names or by those of folders on the way to them."""
    return [file for file, way in _files(source).items() if any(name.startswith(("_", ".")) for name in way.parts)]


def _files(source: str) -> dict[Path, Path]:
    """Those that are not empty, and how one comes to each from what was given."""
    found = {}
    for given in map(Path, glob.glob(for_python(source))):
        for file in [given] if given.is_file() else given.rglob("*"):
            if file.is_file() and file.stat().st_size:
                found[file] = file.relative_to(given.parent if file == given else given)
    return found


def _out(asked: argparse.Namespace) -> None:
    out = Path(asked.out)
    if out.is_file():
        raise CannotBeDone(f"{out} is a file: give a folder, which is made if it is not there")
    parent = next(each for each in (out, *out.absolute().parents) if each.exists())
    if not os.access(parent, os.W_OK):
        raise CannotBeDone(f"{out} cannot be written ({parent} is not yours): give a folder of your own")


def _apart(source: str, out: str) -> None:
    """A folder is read with all that is in it: the next run would take its own tables for traces. And a table takes the
    place of whatever has its name."""
    place, asked = Path(out).resolve(), for_python(str(Path(source).resolve()))
    if any(fnmatchcase(str(each), asked) for each in (place, *place.parents)):
        raise CannotBeDone(f"{out} lies in {source}, and would be read with it the next time: give a folder elsewhere")
    if any(place in Path(each).resolve().parents for each in glob.glob(for_python(source))):
        raise CannotBeDone(
            f"{source} lies in {out}, where tables take the place of what is there: give a folder elsewhere"
        )


def _stream(asked: argparse.Namespace) -> None:
    if not is_elsewhere(asked, asked.out):
        _out(asked)
    if asked.files and not is_elsewhere(asked, asked.files):
        if not Path(asked.files).is_dir():
            raise CannotBeDone(f"there is no folder {asked.files}: make it, or give the one that files appear in")
        _apart(asked.files, asked.out)
    if asked.kafka and asked.remote is None:
        _reachable(asked.kafka)


def _reachable(bootstrap: str) -> None:
    """One is enough. Kafka's client would try for a minute and then say that it has timed out."""
    said = []
    for address in bootstrap.split(","):
        host, _, port = address.strip().rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), REACH_S).close()
        except (OSError, ValueError) as error:
            said.append(f"{address}: {error}")
        else:
            return
    raise CannotBeDone(f"no broker answers ({'; '.join(said)}): --kafka takes HOST:PORT,HOST:PORT…")


def _tables(asked: argparse.Namespace, *names: str, verb: str = "batch INPUT") -> None:
    if is_elsewhere(asked, asked.out):
        return
    there = [name for name in (*ALL, LIVE, SEEDS) if (Path(asked.out) / name).is_dir()]
    missing = [name for name in names if name not in there]
    if missing:
        said = f"it has {', '.join(there)}" if there else "it has none"
        raise CannotBeDone(
            f"there is no table {missing[0]} in {asked.out} ({said}): `kip848-pipeline {verb} {asked.out}` makes it"
        )


def _show(asked: argparse.Namespace) -> None:
    _tables(asked, asked.table, verb=MADE_BY.get(asked.table, "batch INPUT"))


def _report(asked: argparse.Namespace) -> None:
    _tables(asked, *asked.tables)
    if asked.file.is_dir():
        raise CannotBeDone(f"{asked.file} is a folder: give the name of a file, {asked.file / 'report.html'} perhaps")


def is_elsewhere(asked: argparse.Namespace, path: str) -> bool:
    return asked.remote is not None or not (asked.master or HERE).startswith(HERE) or "://" in path


def is_little(asked: argparse.Namespace) -> bool:
    """What will be read lies here, and is soon read."""
    read = READ_BY.get(asked.verb)
    return read is not None and not is_elsewhere(asked, path := getattr(asked, read)) and weighs_little(path)


def weighs_little(source: str) -> bool:
    return sum(map(_weight, _files(source))) <= LITTLE_BYTES


def _weight(file: Path) -> int:
    try:
        return file.stat().st_size * (PACKED if file.suffix in PACKINGS else 1)
    except FileNotFoundError:
        # Renamed, or swapped for another, at this moment.
        return 0


CHECKS: dict[str, Callable[[argparse.Namespace], None]] = {
    "batch": _batch,
    "stream": _stream,
    "report": _report,
    "show": _show,
    "simulate": _out,
}


def first_line(error: BaseException) -> str:
    """What Spark says is a page with a plan, or a Java stack; the first line that says anything."""
    thrown = JAVA.search(str(error))
    said = (
        thrown[1] if thrown else next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    )
    return said.strip().rstrip(".;")


def failed(verb: str, error: BaseException) -> str:
    """Why the world did not let it be done."""
    said = str(error)
    if file := UNREADABLE.search(said):
        cause = CAUSE.search(said, file.end())
        why = f" ({cause[1]})" if cause else ""
        return f"{verb} has failed: {of_url(file[1])} cannot be read{why}: mend it, or take it out of what is read"
    return f"{verb} has failed: {first_line(error)}"
