"""Who is told which address."""

from __future__ import annotations

import pytest

from proxy.addresses import Address, Directory, parse_address
from proxy.settings import ClientTls, Settings, Sni


def test_node_n_is_told_as_the_bootstrap_port_plus_one_plus_n() -> None:
    directory = Directory(Settings(upstream=("kafka:9092",), listen="127.0.0.1:19000"))
    assert directory.learn(3, "broker-3.internal", 9092) == Address("127.0.0.1", 19004)


def test_a_mapped_port_wins_over_the_formula() -> None:
    directory = Directory(Settings(upstream=("kafka:9092",), listen="127.0.0.1:19000", ports={"1001": 19500}))
    assert directory.learn(1001, "b", 9092).port == 19500


def test_the_advertised_host_is_told_and_not_the_bound_one() -> None:
    directory = Directory(Settings(upstream=("kafka:9092",), listen="0.0.0.0:19000", advertise="proxy.example"))
    assert directory.learn(0, "b", 9092) == Address("proxy.example", 19001)


def test_a_node_is_announced_once_however_often_it_is_named() -> None:
    seen: list[int] = []
    directory = Directory(Settings(upstream=("kafka:9092",)), seen.append)
    for host in ("old", "new", "new"):
        directory.learn(5, host, 9092)
    assert seen == [5]
    assert directory.targets(5) == [Address("new", 9092)]


def test_whether_a_node_was_named_is_told_once() -> None:
    directory = Directory(Settings(upstream=("kafka:9092",)))
    directory.learn(5, "b", 9092)
    assert [directory.was_named(node) for node in (5, 5, 6)] == [True, False, False]
    directory.learn(5, "b", 9092)
    assert directory.was_named(5)


def test_a_node_not_heard_of_yet_is_looked_for_at_the_seeds() -> None:
    directory = Directory(Settings(upstream=("a:1", "b:2")))
    directory.learn(1, "c", 3)
    assert directory.targets(7) == [Address("a", 1), Address("b", 2), Address("c", 3)]


@pytest.mark.parametrize(
    ("name", "node"),
    [("broker-12.kafka.example", 12), ("BROKER-0.KAFKA.EXAMPLE", 0), ("kafka.example", None)],
)
def test_a_server_name_stands_for_a_node_or_the_bootstrap(name: str, node: int | None) -> None:
    assert sni_directory().node_of_server_name(name) == node


@pytest.mark.parametrize("name", ["broker-x.kafka.example", "broker-.kafka.example", "other.example", "", None])
def test_any_other_server_name_is_refused(name: str | None) -> None:
    with pytest.raises(KeyError):
        sni_directory().node_of_server_name(name)


def test_with_sni_all_brokers_are_told_on_one_port_by_name() -> None:
    assert sni_directory().learn(4, "b", 9092) == Address("broker-4.kafka.example", 443)


def test_an_ipv6_address_keeps_its_brackets_in_text() -> None:
    assert parse_address("[::1]:9092") == Address("::1", 9092)
    assert str(Address("::1", 9092)) == "[::1]:9092"


def sni_directory() -> Directory:
    sni = Sni("broker-{node}.kafka.example", bootstrap_name="kafka.example", advertised_port=443)
    tls = ClientTls("cert.pem", "key.pem")
    return Directory(Settings(upstream=("kafka:9092",), listen="0.0.0.0:9092", client_tls=tls, sni=sni))


def test_the_seed_that_answered_last_is_dialled_first() -> None:
    directory = Directory(Settings(upstream=("gone:9092", "there:9092")))
    assert directory.targets(None) == [Address("gone", 9092), Address("there", 9092)]
    directory.answers(Address("there", 9092))
    assert directory.targets(None) == [Address("there", 9092), Address("gone", 9092)]
