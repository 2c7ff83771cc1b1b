"""How Spark is started in tests: often, briefly, and for rows in dozens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pyspark

from pipeline import session
from tests.kafka.jvm import BRIEFLY, archived

SETTINGS = session.LITTLE | {session.SHUFFLED: "1"}
JVM = (*BRIEFLY, "-XX:ReservedCodeCacheSize=256m")
OF_DRIVER, OF_EXECUTOR = session.JAVA, "spark.executor.extraJavaOptions"


@cache
def quick() -> dict[str, str]:
    home, jars = os.environ.get("JAVA_HOME"), Path(pyspark.__file__).parent / "jars"
    classes = archived(f"spark-{pyspark.__version__}", [jars], _live_once, f"{home}/bin/java" if home else "java")
    return SETTINGS | {OF_DRIVER: " ".join((*JVM, *classes))}


def in_words(settings: dict[str, str]) -> list[str]:
    return [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]


def _live_once(jvm: list[str]) -> None:
    """It begins, and counts to one: most classes are loaded by then, and a whole batch would cost more than its archive saves
    in all tests. Who reads to its end what the JVM says has waited for that archive."""
    begin = (
        "from pipeline import session; import json, sys; spark = session.start('local[2]', **json.loads(sys.argv[1]))"
    )
    settings = json.dumps(SETTINGS | {OF_DRIVER: " ".join((*JVM, *jvm))})
    run = [sys.executable, "-c", f"{begin}; spark.range(1).count(); spark.stop()", settings]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"Spark did not live once:\n{done.stderr}")
