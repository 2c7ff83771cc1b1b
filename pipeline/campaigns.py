"""The simulation's campaigns, spread over Spark: one row for each seed, whatever happens to it.

A task plays some seconds of simulation, for a task costs some 30 ms by itself. A seed that fails is a row with its story,
cut down; never an exception, for one would lose the whole job.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pipeline.drawing import counts
from pipeline.shapes import Picture
from simulation import playing
from simulation.invariants import Broken
from simulation.plans import Plan, as_story, draw
from simulation.world import World
from translation.transition import Transition

ROWS = (
    "seed bigint, verdict string, said string, story string, digest string, line string, moves bigint, members bigint,"
    " steps bigint, rejoins_asked bigint, revocations bigint, revoked bigint, idle_ms bigint, virtual_ms bigint,"
    " took_ms double"
)
SEEDS_PER_TASK = 50
HOLDS = "holds"
# What is drawn, and its unit; of more seeds than this, some.
MEASURED = {"rejoins_asked": "rejoins", "revoked": "partitions", "idle_ms": "ms", "took_ms": "ms"}
MOST_DRAWN = 100_000


def campaign(spark: SparkSession, first: int, seeds: int, shrunk: bool = True) -> DataFrame:
    tasks = max(1, -(-seeds // SEEDS_PER_TASK))
    drawn = spark.range(first, first + seeds, numPartitions=tasks)

    def play_all(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [row(seed, shrunk) for seed in batch.column("id").to_pylist()]
            yield pa.RecordBatch.from_pylist(rows)

    return drawn.mapInArrow(play_all, ROWS)


def row(seed: int, shrunk: bool = True) -> dict[str, Any]:
    plan, began = draw(seed), time.perf_counter()
    seen: list[Transition] = []
    world, found = watched(plan, seen)
    kind, said = found or (HOLDS, "")
    ledger = world.ledger
    return {
        "seed": seed,
        "verdict": kind,
        "said": said,
        "story": _story(plan, kind, shrunk) if found else "",
        "digest": digest(seen),
        "line": plan.line,
        "moves": len(plan.moves),
        "members": len(plan.legacy) + len(plan.natives),
        "steps": world.steps,
        "rejoins_asked": sum(proxy.rejoins_asked for proxy in world.proxies.values()),
        "revocations": ledger.revocations,
        "revoked": ledger.revoked,
        "idle_ms": ledger.idle_ms,
        "virtual_ms": world.now,
        "took_ms": (time.perf_counter() - began) * 1000,
    }


def watched(plan: Plan, seen: list[Transition]) -> tuple[World, playing.Failure | None]:
    world = playing.begin(plan)
    for proxy in world.proxies.values():
        proxy.on_transition = seen.append
    try:
        for move in plan.moves:
            world.run(move.at - world.now)
            playing.happen(world, move)
        world.run(plan.ends_at - world.now)
        playing.calm_down(world)
    except Broken as broken:
        return world, (broken.invariant, str(broken))
    except Exception as error:  # a defect of the simulation is a finding too
        return world, (type(error).__name__, f"{type(error).__name__}: {error}")
    return world, None


def _story(plan: Plan, kind: str, shrunk: bool) -> str:
    return as_story(playing.shrink(plan, kind) if shrunk else plan)


def digest(transitions: list[Transition]) -> str:
    """Two runs of a seed that differ anywhere differ here."""
    return hashlib.blake2b(msgspec.json.encode(transitions), digest_size=8).hexdigest()


def verdicts(rows: DataFrame) -> DataFrame:
    """How many of each, and a seed to play again."""
    found = rows.groupBy("verdict").agg(f.count("*").alias("seeds"), f.min("seed").alias("for_example"))
    return found.orderBy(f.desc("seeds"))


def distributions(rows: DataFrame) -> DataFrame:
    """By broker line: what runs cost their members."""
    measures = ("rejoins_asked", "revoked", "idle_ms", "took_ms")
    quantiles = [f.percentile(name, f.array(f.lit(0.5), f.lit(0.99))).alias(f"{name}_p50_p99") for name in measures]
    return rows.groupBy("line").agg(f.count("*").alias("seeds"), *quantiles).orderBy("line")


def pictures(rows: DataFrame) -> dict[str, Picture | None]:
    """How the runs are spread over what they cost their members, and us."""
    seen = rows.select(*MEASURED).limit(MOST_DRAWN).collect()
    return {name: counts([row[name] for row in seen], unit) for name, unit in MEASURED.items()}
