"""Which server assignor a client means, and which one the members of a group agree on.

The names map as in Kafka's operations guide (consumer rebalance protocol), but for one thing: `range` on a single topic
becomes `uniform`. All that `range` promises beyond balance is that partitions of the same number come together, which
takes two topics. On one, `uniform` gives shares of the same sizes, and lets members keep what they have when others come
and go, where `range` moves half of the group along. Still such a client can live with `range`, if others need it.

The members of one group vote for one assignor. Different votes are legal, but a coordinator that counts as many for one
as for the other takes its choice for changed with every heartbeat (4.4.0): a new epoch each time, and a new target each
second, for ever. Classic groups agree on a protocol that all members offer, so that is what ours do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable

from translation.rules import Rules

# Partitions of the same number come together. The second is goka's, whose members refuse anything else, or go wrong.
PAIRING = frozenset({"range", "copartition"})

KAFKAS = ("uniform", "range")


def server_assignors(protocols: Iterable[str], topics: Collection[str], rules: Rules) -> tuple[str, ...]:
    """What a client's protocols mean, the dearest first. Nothing: the choice is left to the group's default."""
    if rules.assignor is not None:
        return (rules.assignor,) if rules.assignor else ()
    has_pairs = len(set(topics)) > 1
    pairing = ("range",) if has_pairs else ("uniform", "range")
    return tuple(dict.fromkeys(each for name in protocols for each in (pairing if name in PAIRING else ("uniform",))))


def another_vote(offers: tuple[str, ...], refused: Collection[str], message: str) -> str | None:
    """Instead of one that the coordinator does not know. It says which it does ("Supported assignors: range, uniform."): of
    these what the client offers, else Kafka's own."""
    _, _, listed = message.partition("Supported assignors:")
    known = re.findall(r"[^\s,]*[^\s,.]", listed)
    dearest = dict.fromkeys((*offers, *KAFKAS, *known))
    return next((name for name in dearest if name not in refused and (not known or name in known)), None)


def agreed(offers: Iterable[tuple[str, ...]], refused: Collection[str] = ()) -> str | None:
    """As classic groups choose: what all offer, and most of them first; where nothing is common, what most offer first.
    Members are many, and most offer the same: that is looked at once."""
    ballots = Counter[tuple[str, ...]]()
    for each, members in Counter(offers).items():
        if ballot := tuple(name for name in each if name not in refused):
            ballots[ballot] += members
    common = set[str]().union(*ballots).intersection(*ballots)
    votes = Counter[str]()
    for ballot, members in ballots.items():
        votes[next(name for name in ballot if not common or name in common)] += members
    return min(votes, key=lambda name: (-votes[name], name), default=None)
