"""The commands as people run them: what they print, what they end with, and what they say when they cannot."""

from __future__ import annotations

import argparse
import gzip
import io
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from bench.pipeline.writer import BEGAN_NS, request, span
from pipeline import connector, session
from pipeline.alone import LOCK, alone
from pipeline.asking import LITTLE_BYTES, CannotBeDone, _apart, _files, _source, _weight, first_line
from pipeline.cli import _parser, _session, _verdict, main
from pipeline.progress import Progress, Tasks, tasks_of
from pipeline.report import Report
from tests.pipeline.running import Commands, Done
from tests.pipeline.telling import Planted, write

NOBODY = 65534


def needs_spark(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.broker(pytest.mark.timeout(600)(test))


Run = Callable[..., Done]


def command(*words: str, env: dict[str, str] | None = None) -> Done:
    run = [sys.executable, "-m", "pipeline", *words]
    return subprocess.run(
        run, capture_output=True, text=True, check=False, timeout=500, env={**os.environ, **(env or {})}
    )


@pytest.fixture(scope="module")
def spark_command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    commands = Commands(tmp_path_factory.mktemp("commands") / "log")
    yield commands.run
    commands.end()


def last_words(done: Done) -> str:
    """Spark's own noise comes first."""
    return next(line for line in reversed(done.stderr.splitlines()) if line.startswith("kip848-pipeline"))


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    life = Planted("g", "a").joins(0, 0, 1).leaves(9_000)
    return write(tmp_path / "traces/traces.json", life.spans)


# ------------------------------------------------------------------------------- what cannot be done is said, and at once


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Without Spark: a session would have to be started, and there is no Java where these tests may run."""
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("kip848-pipeline: ")
    assert "Traceback" not in said
    return said


def test_without_its_extra_it_says_what_to_install() -> None:
    """-S: without the packages that are installed here."""
    root = Path(__file__).parents[2]
    run = [sys.executable, "-S", "-m", "pipeline", "show", "out", "members"]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 2
    assert done.stderr == "kip848-pipeline: pyspark is missing: pip install 'kip848-proxy[pipeline]'\n"


@pytest.fixture(autouse=True)
def _some_java(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused is refused without Java being run."""
    if "capsys" in request.fixturenames:
        java = tmp_path / "java-home/bin/java"
        java.parent.mkdir(parents=True)
        java.touch()
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java-home"))


def test_an_input_that_is_not_there_is_named_and_what_to_give_instead(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = refused(capsys, "batch", f"{tmp_path}/nowhere", f"{tmp_path}/out")
    assert f"there is no {tmp_path}/nowhere" in said
    assert "traces.file" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="nobody else can be somebody else")
@pytest.mark.parametrize("asked", ["", "/traces", "/traces/traces.json", "/traces/*.json"])
def test_what_may_not_be_read_is_not_said_to_be_missing(traces: Path, asked: str) -> None:
    closed = traces.parents[1]
    closed.chmod(0o700)
    os.seteuid(NOBODY)
    try:
        with pytest.raises(CannotBeDone, match=f"{re.escape(f'{closed}{asked}')} may not be read by you"):
            _source(f"{closed}{asked}")
    finally:
        os.seteuid(0)
    _source(f"{closed}{asked}")


def test_a_folder_without_traces_is_said_to_have_nothing_in_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/empty.json").touch()
    assert f"there is nothing in {tmp_path}/in" in refused(capsys, "batch", f"{tmp_path}/in", f"{tmp_path}/out")


@pytest.mark.parametrize(("read", "out"), [("", "out"), ("", ""), ("*", "out"), ("*", "out/of/today"), ("t*", "today")])
def test_tables_are_not_written_among_the_traces(
    capsys: pytest.CaptureFixture[str], traces: Path, read: str, out: str
) -> None:
    """What a pattern would match is among them before it is there."""
    said = refused(capsys, "batch", str(traces.parent / read), str(traces.parent / out))
    assert "would be read with it the next time" in said


@pytest.mark.parametrize(
    ("read", "is_among"), [("run[1]", True), ("run[1]/*", True), ("run1", False), ("run[0-9]", False)]
)
def test_a_folder_is_itself_whatever_its_name_would_mean_as_a_pattern(
    tmp_path: Path, read: str, is_among: bool
) -> None:
    traces, source = write(tmp_path / "run[1]/a{b}*?.json", Planted("g", "a").joins(0, 0).spans), f"{tmp_path}/{read}"
    assert (list(_files(source)) == [traces]) is is_among
    with pytest.raises(CannotBeDone) if is_among else nullcontext():
        _apart(source, f"{tmp_path}/run[1]/out")


@pytest.mark.parametrize("read", ["requests", "requests/traces.json", "*/traces.json"])
def test_tables_do_not_take_the_place_of_traces(capsys: pytest.CaptureFixture[str], tmp_path: Path, read: str) -> None:
    traces = write(tmp_path / "out/requests/traces.json", Planted("g", "a").joins(0, 0).spans)
    said = refused(capsys, "batch", f"{tmp_path}/out/{read}", f"{tmp_path}/out")
    assert "where tables take the place of what is there" in said
    assert traces.exists()


@pytest.mark.parametrize("words", [("batch", "{traces}"), ("stream", "--files", "{folder}"), ("simulate",)])
def test_where_one_writes_nobody_else_does(
    capsys: pytest.CaptureFixture[str], traces: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    named = [word.format(traces=traces, folder=traces.parent) for word in words]
    with alone(str(out)):
        said = refused(capsys, *named, str(out))
    assert f"process {os.getpid()} on {socket.gethostname()} writes into {out}: wait until it has ended" in said
    assert [each.name for each in out.iterdir()] == [LOCK]


def test_who_was_killed_while_it_wrote_is_in_nobodys_way(tmp_path: Path) -> None:
    lives = "import sys, time; from pipeline.alone import alone\nwith alone(sys.argv[1]): print(flush=True); time.sleep(600)"
    run = [sys.executable, "-c", lives, str(tmp_path)]
    with subprocess.Popen(run, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(CannotBeDone, match=f"process {other.pid} on "), alone(str(tmp_path)):
            pass
        other.kill()
    with alone(str(tmp_path)):
        assert (tmp_path / LOCK).read_text().startswith(f"process {os.getpid()} on ")


@pytest.mark.parametrize("name", ["_traces.json", ".traces.json", "_of_today/traces.json"])
def test_what_spark_does_not_see_is_to_be_renamed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    hidden = write(tmp_path / "in" / name, Planted("g", "a").joins(0, 0).spans)
    assert f"Spark passes over {hidden}" in refused(capsys, "batch", f"{tmp_path}/in", f"{tmp_path}/out")


def test_a_file_that_spark_does_not_see_is_not_read_as_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    hidden = write(tmp_path / "_traces.json", Planted("g", "a").joins(0, 0).spans)
    assert f"Spark passes over {hidden}" in refused(capsys, "batch", str(hidden), f"{tmp_path}/out")


def test_a_file_where_a_folder_should_be_is_not_overwritten(capsys: pytest.CaptureFixture[str], traces: Path) -> None:
    before = traces.read_bytes()
    assert "is a file: give a folder" in refused(capsys, "batch", str(traces), str(traces))
    assert traces.read_bytes() == before


@pytest.mark.parametrize("words", [("report",), ("show", "{out}", "audits")])
def test_a_folder_without_tables_says_which_command_makes_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    out = str(tmp_path / "out")
    said = refused(capsys, *(word.format(out=out) for word in words), *([out] if len(words) == 1 else []))
    assert "there is no table" in said
    assert f"`kip848-pipeline batch INPUT {out}`" in said


def test_the_tables_that_are_there_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "out/cost").mkdir(parents=True)
    said = refused(capsys, "show", f"{tmp_path}/out", "seeds")
    assert "it has cost" in said
    assert "kip848-pipeline simulate" in said


def test_what_only_a_stream_makes_is_named_with_its_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert f"`kip848-pipeline stream --kafka BOOTSTRAP {tmp_path}`" in refused(capsys, "show", str(tmp_path), "live")


def test_brokers_that_do_not_answer_are_named_with_the_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = refused(capsys, "stream", "--kafka", "localhost:1,nonsense", f"{tmp_path}/out")
    assert "no broker answers (localhost:1: [Errno" in said
    assert "nonsense: " in said


@pytest.mark.parametrize(
    ("words", "is_little"),
    [
        (["batch", "{0}/a", "out"], True),
        (["batch", "{0}/b", "out"], True),
        (["batch", "{0}/?", "out"], False),
        (["batch", "{0}/packed.gz", "out"], False),
        (["report", "{0}/packed.gz"], False),
        (["show", "{0}/a", "cost"], True),
        (["batch", "{0}/a", "out", "--master", "spark://there:7077"], False),
        (["batch", "{0}/a", "out", "--remote", "sc://there"], False),
        (["stream", "--files", "{0}/a", "out"], False),
        (["simulate", "out"], False),
    ],
)
def test_spark_is_told_when_there_is_little_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], is_little: bool
) -> None:
    for name, size in (("a", LITTLE_BYTES), ("b", LITTLE_BYTES), ("packed.gz", LITTLE_BYTES // 10)):
        (tmp_path / name).mkdir()
        with (tmp_path / name / f"traces{Path(name).suffix or '.json'}").open("wb") as file:
            file.truncate(size)
    told = []

    def start(*asked: Any, **settings: str) -> SparkSession:
        told.append(asked[-1])
        raise ValueError("enough is known")

    monkeypatch.setattr(session, "start", start)
    with pytest.raises(CannotBeDone, match="enough is known"):
        _session(_parser().parse_args([word.format(tmp_path) for word in words]))
    assert told == [is_little]


@needs_spark
def test_for_little_spark_starts_so_but_for_what_somebody_asks_for() -> None:
    script = (
        "from pipeline import session; names = sorted(session.LITTLE)\n"
        "spark = session.start('local[1]', is_little=True, **{session.SHUFFLED: '3'})\n"
        "print('is', *(spark.conf.get(name) for name in names), sep='|'); spark.stop()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=300)
    asked = session.LITTLE | {session.SHUFFLED: "3"}
    assert done.stdout.splitlines()[-1].split("|") == ["is", *(asked[name] for name in sorted(asked))], done.stderr


def test_what_is_renamed_while_it_is_weighed_weighs_nothing(tmp_path: Path) -> None:
    assert _weight(tmp_path / "traces.json") == 0


def test_without_java_one_is_told_so(
    capsys: pytest.CaptureFixture[str], traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert "JAVA_HOME is /nowhere" in refused(capsys, "batch", str(traces), "out")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")
    assert "Spark needs Java 17 or newer" in refused(capsys, "batch", str(traces), "out")


@pytest.fixture
def somebody() -> Iterator[str]:
    """Who answers where brokers should be."""
    with socket.create_server(("localhost", 0)) as there:
        yield f"localhost:{there.getsockname()[1]}"


def test_without_maven_one_is_told_what_else_to_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, somebody: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "")
    said = refused(capsys, "stream", "--kafka", somebody, f"{tmp_path}/out")
    assert "there is no mvn on the PATH: install it, or put the jars" in said
    assert f"into {connector.folder()}" in said


def test_what_maven_says_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, somebody: str
) -> None:
    maven = tmp_path / "bin/mvn"
    maven.parent.mkdir()
    maven.write_text("#!/bin/sh\necho '[ERROR] no way to central'; echo '[ERROR] more'; exit 1\n", encoding="utf-8")
    maven.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(maven.parent))
    said = refused(capsys, "stream", "--kafka", somebody, f"{tmp_path}/out")
    assert "Spark's Kafka connector: [ERROR] no way to central. `mvn -q" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("simulate", "out", "--seeds", "0"), "'0' is not a number from 1 on"),
        (("show", "out", "costs"), "invalid choice: 'costs' (choose from 'rejects'"),
        (("batch", "in", "out", "--conf", "x"), "'x' is no NAME=VALUE, as in spark.driver.memory=4g"),
        ((), "the following arguments are required: VERB"),
    ],
)
def test_words_that_mean_nothing_are_answered_with_those_that_do(words: tuple[str, ...], said: str) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("[COLUMN] no such column; line 1\n'Filter ('x = 1)\n+- Relation", "[COLUMN] no such column; line 1"),
        ("An error occurred.\n: java.lang.Exception: too bad.\n\tat java.base/x", "too bad"),
        ("", "ValueError"),
    ],
)
def test_of_a_page_that_spark_says_the_line_that_says_it_is_told(said: str, line: str) -> None:
    assert first_line(ValueError(said)) == line


# ----------------------------------------------------------------------------------------------------------- how far it is


def test_a_thing_that_lasts_says_how_far_it_is_and_only_when_it_has_come_further() -> None:
    to, over, steps = io.StringIO(), threading.Event(), [Tasks(), Tasks(1, 4), Tasks(1, 4), Tasks(3, 4)]

    def how_far() -> Tasks:
        if not steps:
            over.set()
        return steps.pop(0) if steps else Tasks()

    with Progress(how_far, to, every_s=0.001) as say:
        # Before anything has begun there is nothing to tell of.
        time.sleep(0.05)
        say("transitions")
        assert over.wait(20)
    said = [line.partition(" s  ")[2] for line in to.getvalue().splitlines()]
    assert said == ["transitions", "transitions: 1 of 4 tasks", "transitions: 3 of 4 tasks"]


@pytest.mark.broker
def test_spark_is_asked_how_many_tasks_are_done(spark: SparkSession, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    how_far, seen = tasks_of(spark), list[Tasks]()

    def look() -> Tasks:
        seen.append(how_far())
        return seen[-1]

    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            while batch.column("id")[0].as_py() and not gate.exists():
                time.sleep(0.05)
            yield batch

    class Eyes(io.StringIO):
        def write(self, line: str) -> int:
            if "1 of 2 tasks" in line:
                gate.touch()
            return super().write(line)

    to = Eyes()
    with Progress(look, to, every_s=0.05) as say:
        say("waiting")
        assert spark.range(0, 2, numPartitions=2).mapInArrow(wait, "id bigint").count() == 2
    assert "waiting: 1 of 2 tasks" in to.getvalue()


# ------------------------------------------------------------------------------------------------- and what can be is done


@needs_spark
def test_batch_says_what_it_does_and_what_it_has_found(spark_command: Run, traces: Path, tmp_path: Path) -> None:
    hidden = write(traces.with_name("_more.json"), Planted("h", "a").joins(0, 0).spans)
    done = spark_command("batch", str(traces.parent), str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert f"hidden from Spark: {hidden}\n" in done.stderr
    assert "s  member_phases\n" in done.stderr
    assert "s  4 transitions, 0 other spans, 0 rejects\n" in done.stderr
    assert (tmp_path / "out/cost").is_dir()


@needs_spark
def test_report_writes_a_page_and_its_pictures_beside_it_and_says_where(
    spark_command: Run, played: Path, tmp_path: Path
) -> None:
    page = tmp_path / "pages/report.html"
    done = spark_command("report", str(played / "out"), str(page))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(page)
    assert "safe to remove" in page.read_text()
    pictures = {file.name.partition("-")[2] for file in (tmp_path / "pages/report-pictures").iterdir()}
    wanted = {
        f"story-{name}.{kind}" for name in ("cost", "members", "partitions", "rebalances") for kind in ("svg", "png")
    }
    assert wanted <= pictures


@needs_spark
def test_show_prints_the_rows_that_were_asked_for(spark_command: Run, played: Path) -> None:
    where = "group_id = 'double' AND view = 'told' AND partition = 't:1'"
    done = spark_command("show", str(played / "out"), "ownership", "--where", where)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"t:\d", done.stdout) == ["t:1"]


@needs_spark
def test_a_condition_that_is_none_is_answered_with_the_columns(spark_command: Run, played: Path) -> None:
    done = spark_command("show", str(played / "out"), "cost", "--where", "colour = 'red'")
    assert done.returncode == 2
    assert "--where \"colour = 'red'\" is no condition on cost" in last_words(done)
    assert "Its columns: group_id, from_ns" in last_words(done)
    assert "Traceback" not in done.stderr


@needs_spark
@pytest.mark.parametrize(
    ("read", "why"),
    [
        ("nothing\nof the\nkind\n", r" \(3 rejects, as of \S+/in: not an OTLP request: '(nothing|of the|kind)'\)"),
        (" \n\n" + request([]) + '\n{"resourceSpans":[]}\n', ""),
    ],
    ids=["of something else", "of nothing"],
)
def test_an_input_without_a_span_is_bad_news_and_takes_nobodys_tables(
    spark_command: Run, tmp_path: Path, read: str, why: str
) -> None:
    (tmp_path / "in").write_text(read)
    former = tmp_path / "out/transitions/of a former run"
    former.parent.mkdir(parents=True)
    former.touch()
    done = spark_command("batch", f"{tmp_path}/in", f"{tmp_path}/out")
    assert done.returncode == 1, done.stderr
    what = rf"nothing in {tmp_path}/in is a span{why}, and no table is made: give OTLP-JSON, a request a line"
    assert re.search(what, last_words(done)), done.stderr
    assert {each for each in (tmp_path / "out").rglob("*") if each.name != LOCK} == {former.parent, former}


@needs_spark
def test_spans_of_which_there_is_nothing_to_say_are_no_bad_news(spark_command: Run, tmp_path: Path) -> None:
    write(tmp_path / "in", [span("ApiVersions", BEGAN_NS, BEGAN_NS + 1, "asked", {})])
    done = spark_command("batch", f"{tmp_path}/in", f"{tmp_path}/out")
    assert done.returncode == 0, done.stderr
    assert "0 transitions, 1 other spans, 0 rejects" in done.stderr


@needs_spark
def test_a_file_that_cannot_be_read_to_its_end_is_named_with_the_reason(
    spark_command: Run, traces: Path, tmp_path: Path
) -> None:
    torn = traces.with_name("torn [1]+50%.json.gz")
    torn.write_bytes(gzip.compress(traces.read_bytes() * 50)[:-30])
    done = spark_command("batch", str(traces.parent), str(tmp_path / "out"))
    assert done.returncode == 2
    assert f" {torn} cannot be read (Unexpected end of input stream): mend it" in last_words(done)
    assert "Traceback" not in done.stderr


@needs_spark
def test_a_page_that_cannot_be_written_is_named(spark_command: Run, played: Path) -> None:
    done = spark_command("report", str(played / "out"), "/proc/report.html")
    assert done.returncode == 2
    assert "report has failed: " in last_words(done)
    assert "'/proc/report.html'" in last_words(done)


@needs_spark
def test_a_campaign(spark_command: Run, tmp_path: Path) -> None:
    done = spark_command("simulate", "--seeds", "3", "--from", "40", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "s  3 seeds, 0 failed\n" in done.stderr
    (verdict,) = parquet.read_table(tmp_path / "out/verdicts").to_pylist()
    assert (verdict["verdict"], verdict["seeds"], verdict["for_example"]) == ("holds", 3, 40)
    drawn = {file.name for file in (tmp_path / "out/pictures").iterdir()}
    assert {"idle_ms.svg", "idle_ms.png"} <= drawn
    show = spark_command("show", str(tmp_path / "out"), "seeds")
    assert re.findall(r"^\|\s*(\d+)\|\s*holds\|", show.stdout, re.MULTILINE) == ["40", "41", "42"]


@pytest.mark.broker
def test_a_seed_that_fails_is_bad_news_and_one_is_told_where_its_story_is(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = spark.createDataFrame([("holds",), ("Converged",)], "verdict string")
    said = io.StringIO()
    assert _verdict(rows, argparse.Namespace(seeds=2, out="out"), Progress(Tasks, said)) == 1
    assert "2 seeds, 1 failed" in said.getvalue()
    assert """`kip848-pipeline show out seeds --where "verdict <> 'holds'"`""" in capsys.readouterr().err


@pytest.mark.broker
def test_tables_of_another_version_are_to_be_made_anew(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1).write.parquet(f"{tmp_path}/cost")
    with pytest.raises(CannotBeDone, match="has no column adopted, so another version has made it"):
        Report(spark, str(tmp_path))


@needs_spark
def test_when_spark_does_not_start_one_is_told_where_to_look(traces: Path, tmp_path: Path) -> None:
    settings = ("--conf", "spark.driver.memory=lots")
    done = command("batch", str(traces), str(tmp_path / "out"), *settings)
    assert done.returncode == 2
    assert "Spark does not start on this machine" in last_words(done)
    assert "Look at --master, --remote and --conf" in last_words(done)
    assert "Traceback" not in done.stderr
