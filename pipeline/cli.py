"""kip848-pipeline: what can be learnt from the proxy's traces.

kip848-pipeline batch INPUT OUT                all tables, from files or folders of OTLP-JSON lines (also .gz, .zst)
kip848-pipeline stream --kafka … --topic … OUT the same, from a topic of the collector, as long as it runs
kip848-pipeline report OUT [FILE]              one self-contained page of what they say
kip848-pipeline show OUT TABLE                 a table, or what is found in it
kip848-pipeline simulate --seeds N OUT         the simulation's campaigns, spread over Spark

Ends with 0; with 1 when it is done and the news is bad (no span could be read, a seed has failed); with 2 when it cannot
be done; with 130 when it was interrupted (a stream has made its tables by then).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pipeline import asking, campaigns, connector, jobs, live, pictures, report, session, streaming
from pipeline.alone import alone
from pipeline.asking import CannotBeDone
from pipeline.ending import Ending
from pipeline.progress import Progress, tasks_of
from pipeline.tables import ALL
from pipeline.writing import Anew, of_one_run

NEVER_S = 1e9
WRITES = ("batch", "stream", "simulate")
DONE, BAD_NEWS, CANNOT, INTERRUPTED = 0, 1, 2, 130


def main(words: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(words)
    try:
        asking.check(asked)
        with _alone(asked):
            return _run(asked)
    except CannotBeDone as why:
        return _say(str(why), CANNOT)
    except (*session.FAILURES, OSError) as error:
        return _say(asking.failed(asked.verb, error), CANNOT)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)


def _say(said: str, code: int) -> int:
    print(f"kip848-pipeline: {said}", file=sys.stderr)
    return code


def _alone(asked: argparse.Namespace) -> AbstractContextManager[None]:
    """Who only reads is in nobody's way."""
    if asked.verb not in WRITES:
        return nullcontext()
    if not asking.is_elsewhere(asked, asked.out):
        Path(asked.out).mkdir(parents=True, exist_ok=True)
    return alone(asked.out)


def _run(asked: argparse.Namespace) -> int:
    spark = _session(asked)
    quiet(spark)
    session.ship(spark)
    try:
        with Progress(tasks_of(spark)) as say:
            return int(asked.run(spark, asked, say))
    finally:
        spark.stop()


def _session(asked: argparse.Namespace) -> SparkSession:
    uses_kafka = getattr(asked, "kafka", None) is not None and not asked.remote
    jars = connector.jars() if uses_kafka else None
    try:
        return session.start(asked.master, asked.remote, jars, asking.is_little(asked), **dict(asked.conf))
    except Exception as error:  # Spark has no kind of error for this: whatever Java threw
        where = asked.remote or asked.master or "this machine"
        raise CannotBeDone(
            f"Spark does not start on {where}: {asking.first_line(error)}. Look at --master, --remote and --conf"
        ) from error


def quiet(spark: SparkSession) -> None:
    if not session.is_remote(spark):
        spark.sparkContext.setLogLevel("ERROR")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kip848-pipeline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs, where = parser.add_subparsers(dest="verb", required=True, metavar="VERB"), _where()
    batch = verbs.add_parser("batch", parents=[where], help="files to tables")
    batch.add_argument("input")
    batch.add_argument("out")
    batch.set_defaults(run=_batch)
    _add_stream(verbs.add_parser("stream", parents=[where], help="a topic to tables"))
    _add_report(verbs.add_parser("report", parents=[where], help="tables to a page"))
    show = verbs.add_parser("show", parents=[where], help="look into a table")
    show.add_argument("out")
    show.add_argument("table", choices=(*ALL, live.TABLE, asking.SEEDS))
    show.add_argument("--where", default="true", help="an SQL condition")
    show.add_argument("--limit", type=_at_least_one, default=50)
    show.set_defaults(run=_show)
    simulate = verbs.add_parser("simulate", parents=[where], help="campaigns")
    simulate.add_argument("--seeds", type=_at_least_one, default=1000)
    simulate.add_argument("--from", dest="first", type=int, default=0)
    simulate.add_argument("out")
    simulate.set_defaults(run=_simulate)
    return parser


def _where() -> argparse.ArgumentParser:
    """Flags of every verb: which Spark, and what it is told."""
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--master", help="a Spark master (default: this machine)")
    where.add_argument("--remote", help="a Spark Connect server, sc://…")
    where.add_argument(
        "--conf", action="append", default=[], type=_setting, metavar="NAME=VALUE", help="any setting of Spark's"
    )
    return where


def _add_stream(stream: argparse.ArgumentParser) -> None:
    source = stream.add_mutually_exclusive_group(required=True)
    source.add_argument("--kafka", metavar="BOOTSTRAP")
    source.add_argument("--files", metavar="FOLDER", help="rotated files as they appear, instead of a topic")
    stream.add_argument("--topic", default="otlp_spans")
    stream.add_argument("--encoding", choices=(streaming.PROTO, streaming.JSON), default=streaming.PROTO)
    stream.add_argument("--until-drained", action="store_true", help="end when everything there is has been read")
    stream.add_argument(
        "--every", type=float, default=300.0, metavar="SECONDS", help="between two makings of the tables"
    )
    stream.add_argument(
        "--per-batch", type=_at_least_one, metavar="N", help="records, or files, in a micro-batch at most"
    )
    stream.add_argument(
        "--late",
        type=float,
        default=live.LATE_S,
        metavar="SECONDS",
        help="live findings wait so long for steps that are on their way; what comes later ends the run",
    )
    stream.add_argument("out")
    stream.set_defaults(run=_stream)


def _add_report(told: argparse.ArgumentParser) -> None:
    told.add_argument("out")
    told.add_argument("file", nargs="?", type=Path, default=Path("report.html"))
    told.add_argument(
        "--pictures", type=Path, metavar="FOLDER", help="for each picture as SVG and PNG (default: FILE-pictures)"
    )
    told.set_defaults(run=_report, tables=report.READS)


def _setting(said: str) -> tuple[str, str]:
    name, equals, value = said.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{said!r} is no NAME=VALUE, as in spark.driver.memory=4g")
    return name, value


def _at_least_one(said: str) -> int:
    if not said.isdecimal() or int(said) < 1:
        raise argparse.ArgumentTypeError(f"{said!r} is not a number from 1 on")
    return int(said)


def _batch(spark: SparkSession, asked: argparse.Namespace, say: Progress) -> int:
    if not asking.is_elsewhere(asked, asked.input) and (hidden := asking.passed_over(asked.input)):
        say(f"passed over, for names that begin with _ or . are hidden from Spark: {', '.join(map(str, hidden))}")
    try:
        jobs.batch(spark, asked.input, asked.out, say)
    except jobs.NoSpan as nothing:
        return _say(_why_nothing(asked.input, nothing), BAD_NEWS)
    steps, spans, rejects = (
        jobs.table(spark, asked.out, name).count() for name in ("transitions", "requests", "rejects")
    )
    say(f"{steps} transitions, {spans} other spans, {rejects} rejects")
    return DONE


def _why_nothing(source: str, nothing: jobs.NoSpan) -> str:
    one, why = nothing.first, ""
    if one is not None:
        why = f" ({nothing.rejects} rejects, as of {one.origin}: {one.reason}: {one.line!r})"
    remedy = "give OTLP-JSON, a request a line, as the proxy's traces.file has it"
    return f"nothing in {source} is a span{why}, and no table is made: {remedy}"


def _stream(spark: SparkSession, asked: argparse.Namespace, say: Progress) -> int:
    if asked.kafka:
        most = asked.per_batch or streaming.RECORDS_PER_BATCH
        read = streaming.from_kafka(spark, asked.kafka, asked.topic, asked.encoding, most)
    else:
        read = streaming.from_files(spark, asked.files, asked.per_batch or streaming.FILES_PER_BATCH)
    every_s = NEVER_S if asked.until_drained else asked.every
    with Ending() as ending:
        has_tables = streaming.run(read, asked.out, asked.until_drained, every_s, say, asked.late, ending.is_asked_for)
    if not has_tables:
        return _say(f"there was nothing to read in {asked.files or asked.topic}: no table is made yet", BAD_NEWS)
    return DONE


def _report(spark: SparkSession, asked: argparse.Namespace, say: Progress) -> int:
    say("reading tables")
    with of_one_run(spark, asked.out):
        found = report.Report(spark, asked.out)
    asked.file.parent.mkdir(parents=True, exist_ok=True)
    asked.file.write_text(report.page(found), encoding="utf-8")
    folder = asked.pictures or asked.file.with_name(f"{asked.file.stem}-pictures")
    say(f"{len(report.write_pictures(found, folder))} pictures in {folder}")
    print(asked.file)
    return DONE


def _show(spark: SparkSession, asked: argparse.Namespace, _: Progress) -> int:
    if asked.table == live.TABLE:
        _print(live.findings(spark, asked.out), asked)
    else:
        with of_one_run(spark, asked.out):
            _print(jobs.table(spark, asked.out, asked.table), asked)
    return DONE


def _print(rows: DataFrame, asked: argparse.Namespace) -> None:
    try:
        found = rows.where(asked.where)
    except PySparkException as error:
        raise CannotBeDone(
            f"--where {asked.where!r} is no condition on {asked.table}: {asking.first_line(error)}."
            f" Its columns: {', '.join(rows.columns)}"
        ) from error
    found.limit(asked.limit).show(asked.limit, truncate=60)


def _simulate(spark: SparkSession, asked: argparse.Namespace, say: Progress) -> int:
    with Anew(spark, asked.out, say) as anew:
        rows = anew.put(asking.SEEDS, campaigns.campaign(spark, asked.first, asked.seeds))
        for name, found in {
            "verdicts": campaigns.verdicts(rows),
            "distributions": campaigns.distributions(rows),
        }.items():
            anew.put(name, found).show(truncate=80)
        if not asking.is_elsewhere(asked, asked.out):
            pictures.write(campaigns.pictures(rows), Path(asked.out) / "pictures")
        return _verdict(rows, asked, say)


def _verdict(rows: DataFrame, asked: argparse.Namespace, say: Progress) -> int:
    failed = rows.where(f.col("verdict") != campaigns.HOLDS).count()
    say(f"{asked.seeds} seeds, {failed} failed")
    if failed:
        where = f"--where \"verdict <> '{campaigns.HOLDS}'\""
        return _say(
            f"{failed} seeds failed: `kip848-pipeline show {asked.out} seeds {where}` has their stories", BAD_NEWS
        )
    return DONE
