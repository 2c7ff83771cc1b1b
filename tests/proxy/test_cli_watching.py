"""`status` and `report` against an admin port, and what they say when there is none."""

from __future__ import annotations

import io
import json
import uuid
from contextlib import closing
from typing import Any

import pytest
import trio

from demo.cluster import Code, Fail, open_cluster
from kafka_protocol import messages as m
from proxy.admin import serve_admin
from proxy.cli import main
from proxy.logs import Log
from proxy.pages import picture_pages
from proxy.picture import Picture
from tests.clients import Client
from tests.kafka import Cluster
from tests.kafka.ports import free_ports
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running
from tests.unit.test_picture import changed, passes


@pytest.fixture
async def admin(nursery: trio.Nursery) -> str:
    picture = Picture()
    picture.observe(changed("alice", owned=(0, 1), assigned=(0, 1), group="orders/eu"))
    picture.observe(passes("bob"))
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(serve_admin, listeners, picture_pages(picture), Log(out=io.StringIO()))
    return "{}:{}".format(*listeners[0].socket.getsockname())


async def run(*arguments: str) -> int:
    return await trio.to_thread.run_sync(main, arguments)


async def test_status_lists_members_with_their_software(admin: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert await run("status", "--admin", admin, "--once") == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:4] == ["group", "member", "phase", "standing"]
    assert ["orders/eu", "alice", "stable", "stable", "7", "6", "2", "0", "librdkafka", "1.9.2"] in [
        row.split() for row in rows
    ]


async def test_report_says_who_needs_the_proxy_and_why_others_do_not(
    admin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run("report", "--admin", admin, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert {group["group_id"]: group["needs_the_proxy"] for group in said["groups"]} == {
        "orders/eu": True,
        "orders": False,
    }
    assert said["cluster"] is None


async def test_report_says_that_the_cluster_was_not_asked_and_how_to(
    admin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run("report", "--admin", admin) == 0
    assert "the cluster was not asked: --upstream HOST:PORT" in capsys.readouterr().out


def reported(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main(["report", "--json", *arguments])
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


@pytest.mark.broker
async def test_report_asks_the_cluster_for_whoever_does_not_come_through_the_proxy(
    kafka: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = f"reported-{uuid.uuid4()}"
    direct, through, native, noted = (f"{topic}-{name}" for name in ("direct", "through", "native", "noted"))
    kafka.create_topic(topic, partitions=2)
    coordinator = ("127.0.0.1", kafka.nodes[1].client_port)
    kafka.ask(1, 10, 1, m.FindCoordinatorRequest(key=topic))
    with Running(kafka.bootstrap) as proxy:
        proxy.ready()
        at_the_proxy = ("127.0.0.1", proxy.port_of(1))

        def look() -> dict[str, Any]:
            with (
                closing(ByHand(coordinator, direct, topic)) as one,
                closing(ByHand(at_the_proxy, through, topic)) as two,
                closing(ByHand(coordinator, noted, topic)) as three,
            ):
                assert one.join().error_code == 0
                two.joins()
                assert three.join().error_code == 0
                three.leads(b"notes")
                return reported(capsys, "--admin", f"127.0.0.1:{proxy.admin}", "--upstream", kafka.bootstrap)

        async with await Client.start("confluent-kafka", kafka.bootstrap, name="new") as client:
            client.subscribe(topic, native, protocol="consumer")
            await client.until(lambda: len(client.owned) == 2, within=40)
            said = await trio.to_thread.run_sync(look)
    rows = {group["group_id"]: group for group in said["cluster"]["groups"]}
    assert said["cluster"]["silent"] == {}
    assert (rows[direct]["type"], rows[direct]["legacy_direct"], rows[direct]["here"]) == ("classic", 1, 0)
    assert rows[direct]["verdict"] == "is legacy and does not come through this proxy"
    assert rows[direct]["clients_elsewhere"] == {"by-hand": 1}
    assert rows[noted]["verdict"] == f"{rows[direct]['verdict']}; the broker lets no native member in"
    assert (rows[through]["type"], rows[through]["here"], rows[through]["verdict"]) == (
        "consumer",
        1,
        "needs the proxy",
    )
    assert rows[through]["clients_elsewhere"] == {}
    assert (rows[native]["native"], rows[native]["verdict"]) == (1, "is native: needs no proxy")


@pytest.mark.broker
def test_report_says_so_where_the_cluster_answers_only_who_authenticates(
    kafka_sasl: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--admin", "none", "--upstream", kafka_sasl.bootstrap]) == 1
    said = capsys.readouterr().out
    assert f"{kafka_sasl.bootstrap} hangs up, as brokers do that answer only who authenticates" in said


async def test_report_names_the_broker_whose_groups_are_missing(capsys: pytest.CaptureFixture[str]) -> None:
    async with open_cluster(nodes=2, topics={"orders": 2}) as cluster:
        here, there = cluster.nodes[1], cluster.nodes[2]
        cluster.faults.add("ListGroups", Fail(Code.COORDINATOR_NOT_AVAILABLE), node=2)
        said = await trio.to_thread.run_sync(reported, capsys, "--admin", "none", "--upstream", here.address)
        assert said["cluster"] == {
            "groups": [],
            "silent": {there.address: "cannot be asked: answers ListGroups with error 15"},
        }
        # It has recovered, and nobody is missing.
        said = await trio.to_thread.run_sync(reported, capsys, "--admin", "none", "--upstream", here.address)
    assert said["cluster"] == {"groups": [], "silent": {}}


def test_report_names_a_broker_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    assert main(["report", "--admin", "none", "--upstream", nobody]) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"{nobody} cannot be asked: ")
    assert said.endswith("Connection refused: its groups are missing\n")


async def test_a_feed_begins_with_everything(admin: str) -> None:
    host, port = admin.split(":")
    stream = await trio.open_tcp_stream(host, int(port))
    async with stream:
        await stream.send_all(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while b"bob" not in answer:
            answer += await stream.receive_some(65536)
    assert b"text/event-stream" in answer
    assert b'"whole":true' in answer


def test_no_proxy_there_names_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--admin", f"127.0.0.1:{free_ports(1)[0]}", "--once"]) == 1
    assert "--admin HOST:PORT" in capsys.readouterr().err
