"""Lines out of zstd files: one stream of lines, or the collector's frames.

The collector's file exporter, told to compress, writes for each request its length (4 bytes, big-endian) and then the
request as a zstd frame of its own; newer ones can write one plain stream instead. The first bytes tell them apart.
A file that ends in the middle of a frame gives what came before, and one line that is rejected.

A file is held as it is, and unpacked as its lines are asked for: they may be sixty times as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pyarrow as pa
from pyspark.sql import DataFrame

from pipeline.names import ORIGIN

MAGIC = b"\x28\xb5\x2f\xfd"
LENGTH = 4
# As Spark reads them whole; a stream has to be told.
FILES = "path string, modificationTime timestamp, length bigint, content binary"
UNREADABLE = "(not readable as zstd)"
UNPACKED_AT_ONCE, LINES_AT_ONCE = 1 << 16, 50


def lines_of(files: DataFrame) -> DataFrame:
    return files.selectExpr(ORIGIN, "content").mapInArrow(_batches, "value string, origin string")


def _batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            lines = unpacked(row["content"])
            while some := list(islice(lines, LINES_AT_ONCE)):
                yield pa.RecordBatch.from_pydict({"value": some, "origin": [row["origin"]] * len(some)})


def unpacked(content: bytes) -> Iterator[str]:
    if content.startswith(MAGIC):
        yield from _lines(content)
        return
    at = 0
    while at < len(content):
        length = int.from_bytes(content[at : at + LENGTH], "big")
        yield from _lines(content[at + LENGTH : at + LENGTH + length])
        at += LENGTH + length


def _lines(content: bytes) -> Iterator[str]:
    """Zstd says only at the end that something is missing: what was read before is still worth having."""
    rest, whole = b"", True
    try:
        for part in _parts(content):
            *lines, rest = (rest + part).split(b"\n")
            yield from (line.decode(errors="replace") for line in lines)
    except OSError:
        whole = False
    if rest:
        yield rest.decode(errors="replace")
    if not whole:
        yield UNREADABLE


def _parts(content: bytes) -> Iterator[bytes]:
    with pa.input_stream(pa.py_buffer(content), compression="zstd") as stream:
        while part := stream.read(UNPACKED_AT_ONCE):
            yield part
