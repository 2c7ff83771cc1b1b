"""kip848-pipeline: what can be learnt from the proxy's traces.

kip848-pipeline batch INPUT OUT                all tables, from files or folders of OTLP-JSON lines (also .gz, .zst)
kip848-pipeline stream --kafka … --topic … OUT the same, from a topic of the collector, as long as it runs
kip848-pipeline report OUT [FILE]              one self-contained page of what they say
kip848-pipeline show OUT TABLE                 a table, or what is found in it
kip848-pipeline simulate --seeds N OUT         the simulation's campaigns, spread over Spark
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from pipeline import campaigns, connector, jobs, report, session, streaming
from pipeline.tables import ALL

NEVER_S = 1e9


def main(words: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(words)
    uses_kafka = getattr(asked, "kafka", None) is not None and not asked.remote
    settings = dict(each.split("=", 1) for each in asked.conf)
    spark = session.start(asked.master, asked.remote, connector.jars() if uses_kafka else None, **settings)
    quiet(spark)
    session.ship(spark)
    try:
        return int(asked.run(spark, asked))
    finally:
        spark.stop()


def quiet(spark: SparkSession) -> None:
    if "connect" not in type(spark).__module__:
        spark.sparkContext.setLogLevel("ERROR")


def _parser() -> argparse.ArgumentParser:
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--master", help="a Spark master (default: this machine)")
    where.add_argument("--remote", help="a Spark Connect server, sc://…")
    where.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="any setting of Spark's")
    parser = argparse.ArgumentParser(
        prog="kip848-pipeline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    batch = verbs.add_parser("batch", parents=[where], help="files to tables")
    batch.add_argument("input")
    batch.add_argument("out")
    batch.set_defaults(run=_batch)
    stream = verbs.add_parser("stream", parents=[where], help="a topic to tables")
    source = stream.add_mutually_exclusive_group(required=True)
    source.add_argument("--kafka", metavar="BOOTSTRAP")
    source.add_argument("--files", metavar="FOLDER", help="rotated files as they appear, instead of a topic")
    stream.add_argument("--topic", default="otlp_spans")
    stream.add_argument("--encoding", choices=(streaming.PROTO, streaming.JSON), default=streaming.PROTO)
    stream.add_argument("--until-drained", action="store_true", help="end when everything there is has been read")
    stream.add_argument(
        "--every", type=float, default=300.0, metavar="SECONDS", help="between two makings of the tables"
    )
    stream.add_argument("--per-batch", type=int, metavar="N", help="records, or files, in a micro-batch at most")
    stream.add_argument("out")
    stream.set_defaults(run=_stream)
    told = verbs.add_parser("report", parents=[where], help="tables to a page")
    told.add_argument("out")
    told.add_argument("file", nargs="?", type=Path, default=Path("report.html"))
    told.add_argument("--pictures", type=Path, metavar="FOLDER", help="each picture as an SVG file, too")
    told.set_defaults(run=_report)
    show = verbs.add_parser("show", parents=[where], help="look into a table")
    show.add_argument("out")
    show.add_argument("table", choices=ALL)
    show.add_argument("--where", default="true", help="an SQL condition")
    show.add_argument("--limit", type=int, default=50)
    show.set_defaults(run=_show)
    simulate = verbs.add_parser("simulate", parents=[where], help="campaigns")
    simulate.add_argument("--seeds", type=int, default=1000)
    simulate.add_argument("--from", dest="first", type=int, default=0)
    simulate.add_argument("out")
    simulate.set_defaults(run=_simulate)
    return parser


class Progress:
    """One line for each thing begun, with the time since the beginning."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self, said: str) -> None:
        print(f"{time.monotonic() - self._began:7.1f} s  {said}", file=sys.stderr, flush=True)


def _batch(spark: SparkSession, asked: argparse.Namespace) -> int:
    jobs.batch(spark, asked.input, asked.out, Progress())
    return 0


def _stream(spark: SparkSession, asked: argparse.Namespace) -> int:
    if asked.kafka:
        most = asked.per_batch or streaming.RECORDS_PER_BATCH
        read = streaming.from_kafka(spark, asked.kafka, asked.topic, asked.encoding, most)
    else:
        read = streaming.from_files(spark, asked.files, asked.per_batch or streaming.FILES_PER_BATCH)
    every_s = NEVER_S if asked.until_drained else asked.every
    streaming.run(read, asked.out, asked.until_drained, every_s, Progress())
    return 0


def _report(spark: SparkSession, asked: argparse.Namespace) -> int:
    found = report.Report(spark, asked.out)
    asked.file.write_text(report.page(found))
    for group in found.groups if asked.pictures else ():
        for name, svg in report.pictures(found, group).items():
            asked.pictures.mkdir(parents=True, exist_ok=True)
            (asked.pictures / f"{group}-{name}.svg").write_text(svg.partition("</svg>")[0] + "</svg>\n")
    print(asked.file)
    return 0


def _show(spark: SparkSession, asked: argparse.Namespace) -> int:
    jobs.table(spark, asked.out, asked.table).where(asked.where).limit(asked.limit).show(asked.limit, truncate=60)
    return 0


def _simulate(spark: SparkSession, asked: argparse.Namespace) -> int:
    say = Progress()
    rows = campaigns.campaign(spark, asked.first, asked.seeds)
    jobs.write(spark, rows, asked.out, "seeds", say)
    rows = jobs.table(spark, asked.out, "seeds")
    campaigns.verdicts(rows).show(truncate=80)
    campaigns.distributions(rows).show(truncate=False)
    failed = rows.where(f.col("verdict") != campaigns.HOLDS).count()
    say(f"{asked.seeds} seeds, {failed} failed; {asked.out}/seeds has their stories")
    return int(failed > 0)
