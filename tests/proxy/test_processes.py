"""A proxy of several processes: to its clients it is one, and of what it knows of a group nothing is missing."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack, closing
from functools import partial
from pathlib import Path
from struct import pack
from typing import Any

import pytest

from kafka_protocol import messages as m
from kafka_protocol.frames import encode_request
from kafka_protocol.messages import keys
from proxy.siblings import Ports, Siblings
from proxy.status import status
from tests.kafka import Cluster
from tests.proxy.by_hand import ByHand
from tests.proxy.pairs import Pair, each, with_a_journal
from tests.proxy.running import Running, children

NOBODY = "127.0.0.1:1"
# So many that none of them has to go elsewhere once in 2 ** 50 runs.
CONNECTIONS = 10
SHOWN = {"connections": False, "once": True, "as_json": True}


def is_over(pid: int) -> bool:
    try:
        # A zombie is over: whoever was to bury it is gone.
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True


def kill_all(parent: int, how: int) -> None:
    """As systemd does it, by default: whoever is in the control group."""
    for pid in (*children(parent), parent):
        os.kill(pid, how)


def clients_wait(proxy: Running, opened: ExitStack) -> None:
    """For an answer that does not come."""
    frame = encode_request(keys.API_VERSIONS, 0, 1, "patient", m.ApiVersionsRequest())
    for _ in range(CONNECTIONS):
        opened.enter_context(proxy.connect()).sendall(pack(">i", len(frame)) + frame)
    proxy.wait_for(lambda: proxy.metric("requests_total", api="ApiVersions") == CONNECTIONS, "all wait")


def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "proxy", "serve", "--upstream", NOBODY, "--processes", "3", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


# ------------------------------------------------------------------------------------------------- beginning and ending


@pytest.mark.parametrize(
    ("tell", "how"),
    [(os.kill, signal.SIGTERM), (kill_all, signal.SIGTERM), (os.killpg, signal.SIGINT)],
    ids=["by its parent alone", "each, by a supervisor", "on a terminal, by Ctrl-C"],
)
def test_told_to_stop_all_of_them_drain_and_end(
    tell: Callable[[int, int], None], how: signal.Signals, tmp_path: Path
) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text("[limits]\ndrain_timeout_ms = 1000\n")
    with ExitStack() as opened:
        # It takes connections and never says anything: the kernel's queue.
        silent = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        upstream = f"127.0.0.1:{silent.getsockname()[1]}"
        proxy = opened.enter_context(Running(upstream, "--config", str(config), processes=3))
        pids = proxy.pids()
        assert len(pids) == 3
        clients_wait(proxy, opened)
        tell(proxy.process.pid, how)
        assert proxy.process.wait() == 0
        assert all(map(is_over, pids))
        said = proxy.log.read_text()
        assert said.count("still busy at the end of the drain") == CONNECTIONS
        assert sorted(line.rpartition(" ")[2] for line in said.splitlines() if " info stopped " in line) == [
            f"process={number}" for number in range(3)
        ]
        assert "stopping at once" not in said


def test_a_supervisor_that_tells_each_a_moment_after_their_parent_has_not_told_them_twice() -> None:
    with ExitStack() as opened:
        silent = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        proxy = opened.enter_context(Running(f"127.0.0.1:{silent.getsockname()[1]}", processes=2))
        pids = proxy.pids()
        clients_wait(proxy, opened)
        proxy.process.send(signal.SIGTERM)
        proxy.wait_for(lambda: proxy.log.read_text().count(" info draining ") == 2, "both drain")
        os.kill(pids[0], signal.SIGTERM)
        time.sleep(0.3)
        assert "stopping at once" not in proxy.log.read_text()
        # That is one.
        os.kill(pids[0], signal.SIGINT)
        proxy.wait_for(lambda: is_over(pids[0]), "the first is over")
        proxy.process.send(signal.SIGTERM)
        assert proxy.process.wait() == 0
        assert proxy.log.read_text().count(" warning stopping at once ") == 2


def test_told_twice_they_drain_no_longer() -> None:
    with ExitStack() as opened:
        silent = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        proxy = opened.enter_context(Running(f"127.0.0.1:{silent.getsockname()[1]}", processes=2))
        clients_wait(proxy, opened)
        proxy.process.send(signal.SIGTERM)
        proxy.wait_for(lambda: proxy.log.read_text().count(" info draining ") == 2, "both drain")
        proxy.process.send(signal.SIGINT)
        assert proxy.process.wait() == 0
        assert proxy.log.read_text().count(" warning stopping at once ") == 2


def test_when_the_parent_is_killed_they_end_in_order() -> None:
    """Else they would take connections beside those of the next one."""
    with Running(NOBODY, processes=2) as proxy:
        pids = proxy.pids()
        proxy.process.end(signal.SIGKILL)
        deadline = time.monotonic() + 20
        while not all(map(is_over, pids)):
            assert time.monotonic() < deadline, proxy.log.read_text()
            time.sleep(0.02)
        assert proxy.log.read_text().count(" info stopped ") == 2
        with Running(NOBODY, base=proxy.base):
            pass


def test_one_that_ends_by_itself_is_started_again_and_knows_the_rules_of_today(tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text("")
    with Running(NOBODY, "--config", str(config), processes=2) as proxy:
        config.write_text('[[groups]]\npattern = "billing-*"\nmode = "pass"\n')
        proxy.process.send(signal.SIGHUP)
        reloaded = 'before=none after="billing-*: pass"'
        proxy.wait_for(lambda: proxy.log.read_text().count(reloaded) == 2, "both have read the rules again")
        killed, other = proxy.pids()
        os.kill(killed, signal.SIGKILL)
        proxy.wait_for(lambda: len(proxy.pids()) == 2 and proxy.pids()[0] == other, "another is there")
        proxy.wait_for(lambda: proxy.log.read_text().count(reloaded) == 3, "it has read them too")
        said = f"error a process ended process=0 pid={killed} by=SIGKILL again_in_seconds=1.0"
        assert said in proxy.log.read_text()
        assert proxy.get("/livez", 0)[0] == 200


def test_one_that_cannot_start_ends_all_and_says_why() -> None:
    with Running(NOBODY, "--node", "1", processes=2) as proxy:
        # Of several processes, which the kernel would let in beside these; a lone one; where a broker's port is taken.
        for listen, more in ((proxy.base, ()), (proxy.base, ("--processes", "1")), (proxy.base - 2, ("--node", "3"))):
            done = serve("--listen", f"127.0.0.1:{listen}", "--admin", "none", *more)
            assert done.returncode == 1
            assert "the port is in use: stop what listens there or choose another in" in done.stderr
        assert proxy._all_say("/livez")


# ------------------------------------------------------------------------------------------------------------- groups


def of(process: int, processes: int = 2) -> str:
    """A group of this process, which is a topic as well."""
    while True:
        name = f"processes-{uuid.uuid4()}"
        queues: Any = [None] * processes
        if Siblings(process, Ports(), queues, queues, -1).is_ours(name):
            return name


def groups_in(proxy: Running, process: int) -> set[str]:
    return {group["group_id"] for group in json.loads(proxy.get("/groups", process)[1])["groups"]}


@pytest.mark.broker
def test_whatever_a_connection_asks_first_of_a_group_it_goes_where_the_group_is(
    kafka: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with Running(kafka.bootstrap, processes=2) as proxy:
        proxy.ready()
        for process in range(2):
            group = of(process)
            kafka.create_topic(group, partitions=2)
            kafka.coordinator(group)
            with closing(ByHand(("127.0.0.1", proxy.port_of(1)), group, group)) as one:
                one.joins()
                # The kernel has each new socket come in at any of them.
                for offset in range(CONNECTIONS):
                    for asked in (
                        one.beat,
                        partial(one.commit, group, 0, offset),
                        partial(one.transact, group, 1, offset, 3),
                        partial(one.transact, group, 1, offset, 5),
                    ):
                        one.on_new_socket()
                        assert asked() == 0
                    one.on_new_socket()
                    assert one.committed(group, 0) == offset
                one.on_new_socket()
                assert one.sync().error_code == 0
                assert [group in groups_in(proxy, number) for number in (process, 1 - process)] == [True, False]
                # Whichever is asked.
                for number in range(2):
                    assert status([f"127.0.0.1:{proxy.admin + number}"], None, **SHOWN) == 0
                    assert [each["group_id"] for each in json.loads(capsys.readouterr().out)] == [group]
                one.on_new_socket()
                assert one.leave().error_code == 0
        assert proxy.disconnects("moved") > CONNECTIONS
        assert proxy.mistakes() == 0


@pytest.mark.broker
@pytest.mark.parametrize("cluster", ["kafka", "kafka_sasl_tls"], ids=["plaintext", "TLS, and all have to log in"])
async def test_members_share_what_they_read_and_notice_nothing_of_one_that_is_killed(
    cluster: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Of libraries that ask for records on connections of their own, and of one that does not."""
    kafka: Cluster = request.getfixturevalue(cluster)
    libraries = ("confluent-kafka", "kafka-python", "sarama")
    with Running(kafka.bootstrap, "--config", with_a_journal(kafka, tmp_path), processes=2) as proxy:
        proxy.ready()
        async with AsyncExitStack() as stack:
            pairs = dict[str, Pair]()
            for number, library in enumerate(libraries):
                group = of(number % 2)
                kafka.create_topic(group, partitions=4)
                pairs[group] = await Pair.start(stack, kafka, proxy.bootstrap, group, library)
            await each(Pair.settles, pairs.values())
            for process in range(2):
                assert groups_in(proxy, process) == set(list(pairs)[process::2])
            os.kill(proxy.pids()[0], signal.SIGKILL)
            await each(Pair.has_not_noticed, pairs.values())
            for process in range(2):
                assert groups_in(proxy, process) == set(list(pairs)[process::2])
            assert proxy.mistakes() == 0
