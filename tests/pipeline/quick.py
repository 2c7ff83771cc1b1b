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
# Most classes are loaded by then, and a whole batch would cost more than its archive saves in all tests.
ONCE = """
import json, sys
from pipeline import session
spark = session.start("local[2]", **json.loads(sys.argv[1]))
spark.range(1).count()
spark.stop()
"""


@cache
def quick() -> dict[str, str]:
    home, jars = os.environ.get("JAVA_HOME"), Path(pyspark.__file__).parent / "jars"
    classes = archived(f"spark-{pyspark.__version__}", [jars], _live_once, f"{home}/bin/java" if home else "java")
    return SETTINGS | {OF_DRIVER: " ".join((*JVM, *classes))}


def in_words(settings: dict[str, str]) -> list[str]:
    return [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]


def _live_once(jvm: list[str]) -> None:
    """Who reads to its end what the JVM says has waited for its archive."""
    settings = json.dumps(SETTINGS | {OF_DRIVER: " ".join((*JVM, *jvm))})
    done = subprocess.run([sys.executable, "-c", ONCE, settings], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"Spark did not live once:\n{done.stderr}")
