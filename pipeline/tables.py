"""The tables, in the order in which they are made, each from those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame

from pipeline.audits import audits, breaks
from pipeline.cost import cost
from pipeline.group_changes import group_changes
from pipeline.ownership import ownership
from pipeline.phases import member_phases
from pipeline.readiness import readiness
from pipeline.rebalances import rebalances
from pipeline.sweep import stretches

Tables = Mapping[str, DataFrame]
# Read from the input. All that follow are made of these two.
FACTS = ("transitions", "requests")
# The transitions as nearly all tables look at them (`at_home`): kept while they are made, and no table itself.
HOME = "home"
# Nor are these, which it takes long to find, and which are asked for more than once.
KEPT = ("stretches", "breaks")
MADE: dict[str, Callable[[Tables], DataFrame]] = {
    "member_phases": lambda t: member_phases(t[HOME]),
    "ownership": lambda t: ownership(t[HOME]),
    "rebalances": lambda t: rebalances(t[HOME]),
    "group_changes": lambda t: group_changes(t[HOME], t["rebalances"]),
    "stretches": lambda t: stretches(t["ownership"]),
    "breaks": lambda t: breaks(t[HOME]),
    "audits": lambda t: audits(t["transitions"], t[HOME], t["requests"], t["ownership"], t["stretches"], t["breaks"]),
    "readiness": lambda t: readiness(t[HOME], t["member_phases"], t["rebalances"]),
    "cost": lambda t: cost(t[HOME], t["rebalances"], t["ownership"], t["stretches"]),
}
ALL = ("rejects", *FACTS, *(name for name in MADE if name not in KEPT))
