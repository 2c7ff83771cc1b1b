"""Lines out of zstd files: one stream of lines, or the collector's frames.

The collector's file exporter, told to compress, writes for each request its length (4 bytes, big-endian) and then the
request as a zstd frame of its own; newer ones can write one plain stream instead. The first bytes tell them apart.
A file that ends in the middle of a frame gives all that came before, and one line that is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

MAGIC = b"\x28\xb5\x2f\xfd"
LENGTH = 4
UNREADABLE = "(not readable as zstd)"


def lines_of(files: DataFrame) -> DataFrame:
    return files.select("path", "content").mapInArrow(_batches, "value string, origin string")


def _batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            lines = list(unpacked(row["content"]))
            yield pa.RecordBatch.from_pydict({"value": lines, "origin": [row["path"]] * len(lines)})


def unpacked(content: bytes) -> Iterator[str]:
    if content.startswith(MAGIC):
        yield from _stream(content)
        return
    at = 0
    while at < len(content):
        length = int.from_bytes(content[at : at + LENGTH], "big")
        yield from _stream(content[at + LENGTH : at + LENGTH + length])
        at += LENGTH + length


def _stream(content: bytes) -> Iterator[str]:
    """Zstd says only at the end that something is missing: what was read before is still worth having."""
    read = bytearray()
    try:
        with pa.input_stream(pa.py_buffer(content), compression="zstd") as stream:
            while part := stream.read(1 << 20):
                read += part
        whole = True
    except OSError:
        whole = False
    yield from bytes(read).decode(errors="replace").splitlines()
    if not whole:
        yield UNREADABLE
