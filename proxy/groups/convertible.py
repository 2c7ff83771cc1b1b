"""What keeps a coordinator from converting a classic group, and which nobody needs: taken out of what passes.

A coordinator lets no native member into a classic group while an assignment there has user data (KAFKA-18134), or while
somebody's subscription does not hold what its version says. librdkafka's cooperative-sticky and sarama's sticky leaders
copy what members say of their past into assignments; kafka-go says version 1 and writes version 0. Members of such groups
pass one by one, and if all that came from them passed as it came their group would be a classic one for ever: it is never
empty in a rolling restart. So they pass in words that a coordinator can convert, and the next to join makes their group a
consumer group.

Of an assignor that we do not know everything passes as it came: its members may read their leader's notes.
"""

from __future__ import annotations

import msgspec

from proxy.groups import classic
from proxy.groups.classic import Request
from translation.embedded import Malformed, as_written, has_user_data, without_user_data

# Their members remember by themselves what they had, or (sarama) do without: until the group is converted a rebalance may
# then move more than it must.
NOTES_NOT_NEEDED = frozenset({"range", "roundrobin", "sticky", "cooperative-sticky"})


def join(request: Request) -> Request:
    """Each subscription says the version it is written in."""
    try:
        protocols = [
            msgspec.structs.replace(each, metadata=as_written(bytes(each.metadata))) for each in request.body.protocols
        ]
    except Malformed:
        # The broker's to judge.
        return request
    return classic.changed(request, protocols=protocols)


def sync(request: Request) -> Request:
    """A leader's assignments, without its notes. Nothing at all is an assignment too."""
    try:
        assignments = [
            msgspec.structs.replace(each, assignment=each.assignment and without_user_data(bytes(each.assignment)))
            for each in request.body.assignments
        ]
    except Malformed:
        return request
    return classic.changed(request, assignments=assignments)


def keeps_natives_out(metadata: bytes, assignment: bytes) -> bool:
    """A coordinator lets no native member in beside a classic one with these. There are none while its group rebalances."""
    try:
        return (metadata != b"" and as_written(metadata) != metadata) or (
            assignment != b"" and has_user_data(assignment)
        )
    except Malformed:
        return True
