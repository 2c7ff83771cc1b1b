"""Facts that a stream has written, as a stream of their own: what live rules are fed with.

The micro-batches of facts have numbers, so an offset is a number: the next batch to read. Only batches that are in the
checkpoint are read, for these are never written again. So lines are parsed once, whoever else reads the facts, and what
is found live can always be found again, from the first batch on.

A row is what one file says of one group, packed: rules are Python, and a row for each step would cost more than judging it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxFiles
from pyspark.sql.types import StructType

from pipeline.live_group import Step

FACTS, CHECKPOINT, BATCH = "transitions", "_checkpoint", "batch"
# Of facts in a micro-batch of rules: bounds memory while a backlog is worked off.
BATCHES_AT_ONCE = 10
KEY = "group_id"
COLUMNS = (KEY, *Step.__struct_fields__)
pack = msgspec.msgpack.Encoder().encode
unpack = msgspec.msgpack.Decoder(list[Step]).decode


class Feed(DataSource):
    """`last_ms`: the last step's time, rounded up: a watermark that has passed it has passed the step."""

    @classmethod
    def name(cls) -> str:
        return "kip848-live"

    def schema(self) -> str:
        return f"{KEY} string, last_ms bigint, steps binary"

    def streamReader(self, schema: StructType) -> Reader:  # noqa: N802 (Spark's name)
        return Reader(Path(self.options["out"]).absolute())


class Reader(DataSourceStreamReader):
    def __init__(self, out: Path) -> None:
        self._out = out

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 (Spark's name)
        return {BATCH: 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 (Spark's name)
        return ReadMaxFiles(BATCHES_AT_ONCE)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802 (Spark's name)
        newest = committed(self._out)
        if isinstance(limit, ReadMaxFiles):
            newest = min(newest, start[BATCH] + limit.max_files)
        return {BATCH: max(newest, start[BATCH])}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        numbers = range(start[BATCH], end[BATCH])
        return [InputPartition(str(file)) for number in numbers for file in _files(self._out, number)]

    def read(self, partition: InputPartition) -> Iterator[tuple[str, int, bytes]]:
        return rows(partition.value)


def committed(out: Path) -> int:
    """How many batches of facts are done for good."""
    commits = out / CHECKPOINT / "commits"
    names = (file.name for file in commits.iterdir()) if commits.is_dir() else ()
    return max((int(name) + 1 for name in names if name.isdecimal()), default=0)


def _files(out: Path, number: int) -> list[Path]:
    folder = out / FACTS / f"{BATCH}={number}"
    if not (folder / "_SUCCESS").exists():
        raise FileNotFoundError(f"{folder} is done, says the checkpoint, and is not there")
    return sorted(folder.glob("*.parquet"))


def rows(file: str) -> Iterator[tuple[str, int, bytes]]:
    table = pq.ParquetFile(file).read(list(COLUMNS))
    groups: dict[str, list[Step]] = defaultdict(list)
    for group_id, *said in zip(*(table[name].to_pylist() for name in COLUMNS), strict=True):
        groups[group_id].append(Step(*said))
    for group_id, steps in groups.items():
        last_ns = max(step.at_ns for step in steps)
        yield group_id, -(-last_ns // 1_000_000), pack(steps)
