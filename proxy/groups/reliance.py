"""Who asks in versions that its broker has dropped (KIP-896) is served here, and would be hung up on there.

Not everybody would notice: sarama before 1.41 commits in OffsetCommit 1, says nothing when the broker hangs up, and reads
everything again after its next start. So it is said which clients are not to go to their brokers as they are.
"""

from __future__ import annotations

from proxy.groups.classic import Request
from proxy.groups.line import Line
from proxy.logs import Log
from proxy.memory import Memory
from proxy.wire import SERVED_FROM_0

# Of one connection: whoever asks about a great many groups is found by the first of them.
MOST = 100


class Reliance:
    def __init__(self, log: Log) -> None:
        self._log = log
        self._said = Memory()

    def taken(self, line: Line, request: Request) -> None:
        """What that broker takes is asked of it, once a connection."""
        if request.version < SERVED_FROM_0.get(request.key, 0) and len(line.relies_on) < MOST:
            line.know_versions(lambda: self._compare(line, request))

    def _compare(self, line: Line, request: Request) -> None:
        oldest, _ = line.versions.get(request.key, (0, 0))
        if request.version >= oldest:
            return
        asked = f"{request.name} v{request.version}"
        line.relies_on.add((getattr(request.body, "group_id", None), asked))
        host = line.client.address.rpartition(":")[0]
        if self._said.is_new((f"{line.client_id} {asked}", host)):
            self._log.info(
                "client relies on the proxy",
                client=line.client_id,
                address=line.client.address,
                asked=asked,
                remedy=f"its broker takes {request.name} from version {oldest} on, and would hang up on it: "
                "a newer library, before it goes to the brokers directly",
            )
