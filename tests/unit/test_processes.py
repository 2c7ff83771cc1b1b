"""What each process of a proxy has to itself."""

from __future__ import annotations

from proxy.processes import admins, own
from proxy.settings import Settings, Traces, Translation


def test_each_has_files_and_an_admin_port_of_its_own_and_the_first_those_of_a_lone_process() -> None:
    given = Settings(
        upstream=("kafka:9092",),
        admin="[::1]:9190",
        processes=3,
        translation=Translation(journal="/var/lib/proxy/journal"),
        traces=Traces(file="/var/log/proxy/traces.jsonl"),
    )
    assert own(given, 0) == given
    third = own(given, 2)
    assert (third.admin, third.translation.journal, third.traces.file) == (
        "[::1]:9192",
        "/var/lib/proxy/journal.2",
        "/var/log/proxy/traces.2.jsonl",
    )
    assert admins(given) == ["[::1]:9190", "[::1]:9191", "[::1]:9192"]


def test_what_is_not_there_is_nobodys() -> None:
    given = Settings(upstream=("kafka:9092",), admin=None, processes=2)
    assert own(given, 1) == given
    assert admins(given) == []
