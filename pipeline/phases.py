"""member_phases: who was in which phase and standing, from when to when?"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from pipeline.life import life

COLUMNS = (
    "group_id",
    "member_id",
    "instance_id",
    "client_id",
    "client_software",
    "client_software_version",
    "client_address",
    "proxy",
    "phase",
    "standing",
    "from_ns",
    "to_ns",
    "epoch",
    "generation",
    "cause",
)


def member_phases(home: DataFrame) -> DataFrame:
    """One row for each stay. A member that is absent on both sides is nobody, and has no row."""
    moved = "phase <> phase_before OR standing <> standing_before"
    stays = home.where(moved).withColumn("to_ns", f.lead("at_ns").over(life()))
    named = stays.withColumn("from_ns", f.col("at_ns"))
    return named.where("NOT (phase = 'absent' AND standing = 'absent')").select(*COLUMNS)
