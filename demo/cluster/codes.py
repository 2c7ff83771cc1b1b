"""The error codes this cluster answers, and the exception that carries one to whoever writes the answer."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    NOT_LEADER_OR_FOLLOWER = 6
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    UNKNOWN_MEMBER_ID = 25
    REBALANCE_IN_PROGRESS = 27
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    INVALID_PRODUCER_EPOCH = 47
    GROUP_ID_NOT_FOUND = 69
    FENCED_MEMBER_EPOCH = 110
    STALE_MEMBER_EPOCH = 113
    UNKNOWN_TOPIC_ID = 100


class Refused(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
