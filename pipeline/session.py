"""A Spark session: here, on a cluster, or behind Spark Connect; the same code runs in all of them."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

# Spark's own, and what Java has thrown.
FAILURES = (PySparkException, Py4JError)
ROOT = Path(__file__).parents[1]
# What tasks import: this package, and the pure ones it stands on.
SHIPPED = ("pipeline", "translation", "simulation")
HERE = "local[*]"
SHUFFLED = "spark.sql.shuffle.partitions"
JAVA = "spark.driver.extraJavaOptions"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    # A stopped job must not leave a second one behind that thinks it is the first.
    "spark.sql.streaming.stopActiveRunOnRestart": "false",
    # Who is killed while it writes its first offset leaves a part of it, by a name that nobody reads. Spark would take that
    # for another stream's, and never begin.
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Errors tell which line of ours they come from: two more calls of Java for each column of every step, a second and more
    # of a batch.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # The only one that live rules can stand on.
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    # A commit writes what has changed; without this it packs the whole store, each time and for each partition.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
FILES = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
# Static, or of the local machine's driver only.
LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    SHUFFLED: "8",
    # A batch wants throughput, and Spark's pages are what G1 calls humongous: it spent three times as long.
    JAVA: "-XX:+UseParallelGC",
    # The usual one starts a process for each file (chmod, readlink) where Hadoop has no native library: a tenth of a second
    # for each entry of a checkpoint. Both rename the data and then its checksum; no two streams write into one folder.
    "spark.sql.streaming.checkpointFileManagerClass": FILES,
}
# Where there is little to read, to compile costs more than it brings: Spark its stages and expressions, and Java everything
# once more and better (its first compiler alone is given less room than Spark needs, and throws out what is compiled
# again). So do many tasks, and plans that adapt.
LITTLE = {
    JAVA: f"{LOCAL[JAVA]} -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    SHUFFLED: "2",
}


def start(
    master: str | None = None,
    remote: str | None = None,
    jars: list[Path] | None = None,
    is_little: bool = False,
    **settings: str,
) -> SparkSession:
    """`remote`: sc://…, of Spark Connect; it brings its own master, and its own jars. Neither: whatever spark-submit
    has set up, or else this machine. `is_little`: what will be read; it counts on this machine only."""
    # Tasks must run in this very interpreter, not in whatever `python3` is on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("kip848-pipeline")
    options = SETTINGS | settings
    if remote:
        builder = builder.remote(remote)
    else:
        if master is not None or "SPARK_ENV_LOADED" not in os.environ:
            builder = builder.master(master or HERE)
            options = LOCAL | (LITTLE if is_little else {}) | options
        if jars:
            options["spark.jars"] = ",".join(map(str, jars))
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def is_remote(spark: SparkSession) -> bool:
    """Behind Spark Connect: of the session's own cluster there is nothing to be seen from here."""
    return "connect" in type(spark).__module__


@contextmanager
def shuffling(spark: SparkSession, partitions: int) -> Iterator[None]:
    """What is planned here shuffles into so many partitions."""
    asked = str(spark.conf.get(SHUFFLED))
    spark.conf.set(SHUFFLED, partitions)
    try:
        yield
    finally:
        spark.conf.set(SHUFFLED, asked)


def shuffles_into(spark: SparkSession) -> int:
    return int(str(spark.conf.get(SHUFFLED)))


def ship(spark: SparkSession) -> None:
    """Our packages to wherever tasks run. A zip: a wheel is copied too, but never imported."""
    folder = Path(tempfile.mkdtemp(prefix="kip848-pipeline-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # Not as people call theirs: what spark-submit was given is there already, and Spark wants names to differ.
    archive = zipped(folder / "kip848-shipped.zip")
    if is_remote(spark):
        spark.addArtifacts(str(archive), pyfile=True)
    else:
        spark.sparkContext.addPyFile(str(archive))
        # A stream's source in Python is planned by a process beside the driver, which looks for it in the wrong folder.
        beside = spark.sparkContext.environment
        beside["PYTHONPATH"] = os.pathsep.join(filter(None, (str(archive), beside.get("PYTHONPATH"))))


def zipped(target: Path) -> Path:
    if ROOT.is_file():  # we run from a zip
        return Path(shutil.copy(ROOT, target))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in SHIPPED:
            for file in sorted((ROOT / package).rglob("*.py")):
                archive.write(file, file.relative_to(ROOT))
    return target
