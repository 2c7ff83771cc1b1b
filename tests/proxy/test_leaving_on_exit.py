"""`translation.leave_on_exit`: members of a proxy that will not come back go with it, if their clients are there."""

from __future__ import annotations

import socket
import ssl
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.kafka import Cluster
from tests.kafka.certificates import Certificates
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running
from tests.proxy.settled import describe

pytestmark = pytest.mark.broker

STATIC_LEAVE_EPOCH = -2
# Until a proxy has noticed that a client has hung up.
HEARS_OF_IT_SECONDS = 0.5
BEATS = 5


class OverTls(ByHand):
    def connect(self) -> socket.socket:
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        return trusting.wrap_socket(super().connect())


@pytest.fixture(params=[ByHand, OverTls], ids=["plaintext", "tls"])
def leaving(request: pytest.FixtureRequest, kafka: Cluster, tmp_path: Path) -> Iterator[tuple[Running, type[ByHand]]]:
    settings = "[translation]\nleave_on_exit = true\n"
    if request.param is OverTls:
        pem = Certificates().issue("proxy", "127.0.0.1")
        settings += f'[client_tls]\ncertificate_file = "{pem}"\nprivate_key_file = "{pem}"\n'
    (tmp_path / "proxy.toml").write_text(settings)
    with Running(kafka.bootstrap, "--config", str(tmp_path / "proxy.toml")) as proxy:
        yield proxy.ready(), request.param


def test_members_leave_with_their_proxy_but_for_those_whose_clients_have_gone_without_a_word(
    leaving: tuple[Running, type[ByHand]], kafka: Cluster
) -> None:
    """Where those went, nobody here knows: it may be another proxy."""
    proxy, kind = leaving
    group = f"leaving-{uuid.uuid4()}"
    kafka.create_topic(group, partitions=4)
    node = kafka.coordinator(group)
    address = ("127.0.0.1", proxy.port_of(node))
    # Who is there has been silent for no longer than a moment: all that waits for its client's word has been said.
    people = [kind(address, group, group, instance_id=name) for name in (None, "static", None)]
    gone, static, there = people
    with closing(there), closing(gone), closing(static):
        for one in people:
            one.join()
            one.sync()
        gone.close()
        for _ in range(BEATS):
            there.beat()
            time.sleep(HEARS_OF_IT_SECONDS / BEATS)
        assert len(describe(kafka, group).members) == len(people)
        proxy.stop()
    epochs = {each.member_id: each.member_epoch for each in describe(kafka, group).members}
    assert epochs.keys() == {gone.member_id, static.member_id}
    assert epochs[static.member_id] == STATIC_LEAVE_EPOCH
