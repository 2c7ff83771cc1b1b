"""What is counted on the byte path: plain numbers, read by the metrics page when somebody asks."""

from __future__ import annotations

from collections import defaultdict

from proxy.causes import Cause


class Counts:
    def __init__(self) -> None:
        self.connections_opened = 0
        self.connections_open = 0
        self.upstream_connect_failures = 0
        self.bytes_from_clients = 0
        self.bytes_from_brokers = 0
        # By api key << 16 | version: one dictionary operation a request.
        self.requests_by_version: defaultdict[int, int] = defaultdict(int)
        self.rewritten: defaultdict[int, int] = defaultdict(int)
        self.stood_still_seconds = 0.0
        # This proxy's own, whether they ended a connection or not.
        self.mistakes = 0
        self.disconnects: dict[str, int] = {cause.value: 0 for cause in Cause}

    @property
    def requests(self) -> dict[int, int]:
        """Requests by api key."""
        by_key: defaultdict[int, int] = defaultdict(int)
        for key_and_version, count in self.requests_by_version.items():
            by_key[key_and_version >> 16] += count
        return dict(by_key)
