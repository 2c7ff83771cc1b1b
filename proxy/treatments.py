"""What is done with a request of some API and version, and by whom: what a conversation knows of its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Protocol

from proxy.answers import Bytes, Rewriter


class Treatment(Enum):
    """What is done with a request of some API and version."""

    OPAQUE = "request and answer pass as they are"
    REWRITTEN = "the request passes, the answer is rewritten"
    INTRODUCTION = "as REWRITTEN, and the request says what software the client is (ApiVersions)"
    DROPPED = "opaque, but brokers since 4.0 hang up on it (Fetch before version 4)"
    PRODUCE = "opaque, but there is no answer to expect when acks is 0"
    PRODUCE_REWRITTEN = "as PRODUCE, the answer is rewritten"
    PRODUCE_DROPPED = "as PRODUCE, but brokers since 4.0 hang up on it (before version 3)"
    AUTHENTICATION = "opaque, a step of authentication that another follows (SaslHandshake)"
    PROOF = "a step of authentication that ends with its answer (SaslAuthenticate)"
    TOKENS_FOLLOW = "as AUTHENTICATION, and bare tokens follow (SaslHandshake v0)"
    ANSWERED_HERE = "never forwarded"
    TAKEN = "handed whole to the desk of the groups"


class Desk(Protocol):
    """Where the requests of groups are taken that come on one connection."""

    # Nobody is at the client's end any more; what speaks to the broker may still be there.
    client_left: bool

    @property
    def client_id(self) -> str: ...

    @property
    def groups(self) -> set[str]:
        """Those with members that speak here."""

    @property
    def relies_on(self) -> set[tuple[str | None, str]]:
        """What its client asked that the broker would not take of it, and of which group it asked that."""

    def taken(self, frame: bytes) -> None: ...

    def knock(self, then: Callable[[], None]) -> None:
        """`then`, once the broker has answered what it answers to nobody whom it does not know."""

    def interrupted(self) -> None:
        """The client has sent more while a request of its is in hand."""

    def needed(self) -> bool:
        """A member speaks to its coordinator on this connection: it must outlive its client's socket."""

    @property
    def asking(self) -> bool:
        """The broker has yet to answer what was asked here: that a member leaves, it may be."""

    def left(self) -> None:
        """The client has gone, and the connection outlives its socket."""

    def closed(self) -> None: ...


class Wire(Rewriter, Protocol):
    """What the conversation asks of the module that knows the codec."""

    treatments: Mapping[int, Treatment]

    def treatment_of_unlisted(self, api: int) -> Treatment: ...
    def counted_as(self, api: int) -> int: ...
    def produce_acks(self, frame: Bytes) -> int | None: ...
    def software(self, frame: bytes) -> tuple[str, str]: ...
    def client_id(self, frame: Bytes) -> str: ...
    def group_of(self, frame: Bytes) -> str | None: ...
    def begins_session(self, api: int, answer: Bytes) -> bool: ...
    def answer(self, api: int, correlation_id: int) -> bytes: ...
