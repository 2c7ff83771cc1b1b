"""The tables, in the order in which they are made, each from those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame

from pipeline.audits import audits
from pipeline.cost import cost
from pipeline.group_changes import group_changes
from pipeline.ownership import ownership
from pipeline.phases import member_phases
from pipeline.readiness import readiness
from pipeline.rebalances import rebalances

Tables = Mapping[str, DataFrame]
# Read from the input. All that follow are made of these two.
FACTS = ("transitions", "requests")
MADE: dict[str, Callable[[Tables], DataFrame]] = {
    "member_phases": lambda t: member_phases(t["transitions"]),
    "ownership": lambda t: ownership(t["transitions"]),
    "rebalances": lambda t: rebalances(t["transitions"]),
    "group_changes": lambda t: group_changes(t["transitions"], t["rebalances"]),
    "audits": lambda t: audits(t["transitions"], t["requests"], t["member_phases"], t["ownership"]),
    "readiness": lambda t: readiness(t["member_phases"], t["requests"], t["rebalances"]),
    "cost": lambda t: cost(t["transitions"], t["rebalances"], t["ownership"]),
}
ALL = ("rejects", *FACTS, *MADE)
