"""A name may have several addresses: a door is bound to all of them."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator

import pytest

from proxy.doors import bind
from proxy.names import Target

# Of documentation (RFC 5737): nobody's.
ELSEWHERE = "192.0.2.1"


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.3", 0)) as held:
        yield held.getsockname()[1]


def on(port: int, *hosts: str) -> list[Target]:
    return [(socket.AF_INET, (host, port)) for host in hosts]


def test_every_address_of_a_name_is_bound_once_but_for_those_of_other_machines(port: int) -> None:
    bound = bind(on(port, "127.0.0.1", ELSEWHERE, "127.0.0.2", "127.0.0.1"))
    names = [listening.getsockname() for listening in bound]
    for listening in bound:
        listening.close()
    assert names == [("127.0.0.1", port), ("127.0.0.2", port)]


def test_where_none_is_of_this_machine_it_says_so(port: int) -> None:
    with pytest.raises(OSError, match=os.strerror(errno.EADDRNOTAVAIL)):
        bind(on(port, ELSEWHERE))


def test_one_that_is_in_use_leaves_none_bound(port: int) -> None:
    with pytest.raises(OSError, match=os.strerror(errno.EADDRINUSE)):
        bind(on(port, "127.0.0.1", "127.0.0.3"))
    socket.create_server(("127.0.0.1", port)).close()
