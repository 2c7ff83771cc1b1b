"""Kafka's error codes as far as groups speak of them, and our own mistakes.

A refusal is a value (refusals.py). What is raised here is never about the world: it says that `step` was fed an
impossible story or would have made an illegal move. The host ends that member's connection, nothing else.
"""

from __future__ import annotations

NONE = 0
UNKNOWN_SERVER_ERROR = -1
UNKNOWN_TOPIC_OR_PARTITION = 3
REQUEST_TIMED_OUT = 7
OFFSET_METADATA_TOO_LARGE = 12
NETWORK_EXCEPTION = 13
COORDINATOR_LOAD_IN_PROGRESS = 14
COORDINATOR_NOT_AVAILABLE = 15
NOT_COORDINATOR = 16
ILLEGAL_GENERATION = 22
INCONSISTENT_GROUP_PROTOCOL = 23
INVALID_GROUP_ID = 24
UNKNOWN_MEMBER_ID = 25
INVALID_SESSION_TIMEOUT = 26
REBALANCE_IN_PROGRESS = 27
INVALID_COMMIT_OFFSET_SIZE = 28
TOPIC_AUTHORIZATION_FAILED = 29
GROUP_AUTHORIZATION_FAILED = 30
UNSUPPORTED_VERSION = 35
INVALID_REQUEST = 42
GROUP_ID_NOT_FOUND = 69
MEMBER_ID_REQUIRED = 79
GROUP_MAX_SIZE_REACHED = 81
FENCED_INSTANCE_ID = 82
FENCED_MEMBER_EPOCH = 110
UNRELEASED_INSTANCE_ID = 111
UNSUPPORTED_ASSIGNOR = 112
STALE_MEMBER_EPOCH = 113

NAMES = {code: name for name, code in list(globals().items()) if name.isupper() and isinstance(code, int)}


class OurMistake(Exception):
    """Something this package, or the host that feeds it, did wrong: it ends one member's connection."""


class IllegalMove(OurMistake):
    """A phase, a standing or a pair of them that the tables do not allow."""


class ImpossibleStory(OurMistake):
    """An event that cannot have happened, such as an answer to a heartbeat that was never sent."""
