"""`status` and `report` against an admin port, and what they say when there is none."""

from __future__ import annotations

import io
import json
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import trio

from demo.cluster import Code, Fail, open_cluster
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.admin import Pages, json_page, serve_admin
from proxy.census import Census, ListedGroup, ListedMember
from proxy.cli import main
from proxy.logs import Log
from proxy.observations import Observation
from proxy.pages import connection_pages, picture_pages
from proxy.picture import Picture
from proxy.report import rows_of
from tests.clients import Client, shared_out
from tests.kafka import Cluster
from tests.kafka.ports import free_ports
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running, room
from tests.unit.test_certificates import named
from tests.unit.test_desk import Desk
from tests.unit.test_picture import changed, passes
from tests.unit.test_tls_link import Ends

A_MINUTE_NS = 60_000_000_000


async def admin_port(nursery: trio.Nursery, *observations: Observation, ends: Ends | None = None) -> str:
    picture = Picture()
    for observation in observations:
        picture.observe(observation)
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    pages = {**picture_pages(picture, lambda: A_MINUTE_NS), **connection_pages((ends or Ends(Desk())).connections)}
    nursery.start_soon(serve_admin, listeners, pages, Log(out=io.StringIO()))
    return "{}:{}".format(*listeners[0].socket.getsockname())


@pytest.fixture
async def admin(nursery: trio.Nursery) -> str:
    alice = changed("alice", owned=(0, 1), assigned=(0, 1), group="orders/eu", at_ns=1_000_000_000)
    return await admin_port(nursery, alice, passes("bob"))


async def run(*arguments: str) -> int:
    return await trio.to_thread.run_sync(main, arguments)


async def test_status_lists_members_with_their_software(admin: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert await run("status", "--admin", admin, "--once") == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:4] == ["group", "member", "phase", "standing"]
    assert [row.split() for row in rows] == [
        ["orders", "bob", "passes", "a", "rule", "lets", "it", "pass", "0", "0", "0", "0", "-", "unknown"],
        ["orders/eu", "alice", "stable", "stable", "7", "6", "2", "0", "59s", "librdkafka", "1.9.2"],
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


@pytest.mark.parametrize("said_as", [("--admin", "{}", "--admin", "{}"), ("--admin", "{},http://{}/")])
async def test_what_several_proxies_say_of_one_group_is_put_together(
    said_as: tuple[str, ...], nursery: trio.Nursery, capsys: pytest.CaptureFixture[str]
) -> None:
    one = await admin_port(nursery, changed("alice"))
    other = await admin_port(nursery, changed("carol"), passes("bob"), changed("dave", group="sums"))
    both = " ".join(said_as).format(one, other).split()
    assert await run("report", *both, "--json") == 0
    orders, sums = json.loads(capsys.readouterr().out)["groups"]
    assert (orders["group_id"], orders["needs_the_proxy"], orders["legacy_members"]) == ("orders", True, 3)
    assert orders["passes_because"] == ["a rule lets it pass"]
    assert (sums["group_id"], sums["legacy_members"]) == ("sums", 1)
    assert await run("status", *both, "--once") == 0
    assert [row.split()[1] for row in capsys.readouterr().out.splitlines()[1:]] == ["alice", "bob", "carol", "dave"]


ODD = "\x1b[2J\x1b]0;owned\x07\nfake row\x7f\u202e"
ODD_SHOWN = r"\x1b[2J\x1b]0;owned\x07\nfake row\x7f\u202e"


@pytest.mark.parametrize("command", ["status --once", "report"])
async def test_what_clients_call_themselves_does_nothing_to_a_terminal(
    nursery: trio.Nursery, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    admin = await admin_port(nursery, changed("alice", group=ODD, at_ns=1))
    assert await run(*command.split(), "--admin", admin) == 0
    said = capsys.readouterr().out
    assert ODD_SHOWN in said
    assert [line for line in said.splitlines() if not line.isprintable()] == []


@pytest.mark.parametrize(
    ("proxies", "verdict"),
    [
        (0, "is native, unless proxies translate for it: none was asked"),
        (1, "is native, as far as this proxy knows: ask the other proxies too"),
        (2, "is native, as far as these proxies know: ask all there are"),
    ],
)
def test_who_is_native_to_the_cluster_may_be_legacy_behind_a_proxy_that_was_not_asked(
    proxies: int, verdict: str
) -> None:
    member = ListedMember("m", "c", "10.0.0.1", "consumer")
    group = ListedGroup("orders", "consumer", "consumer", "Stable", (member,))
    assert [row.verdict for row in rows_of(Census([group], {}), [], proxies)] == [verdict]


async def test_whom_to_ask_is_in_the_settings_where_nobody_says_it(
    admin: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "proxy.toml"
    # Whoever watches may not read the proxy's keys.
    config.write_text(f'admin = "{admin}"\n[client_tls]\ncertificate_file = "/absent"\nprivate_key_file = "/absent"\n')
    assert await run("status", "--config", str(config), "--once") == 0
    assert "alice" in capsys.readouterr().out
    monkeypatch.setenv("KIP848_PROXY_ADMIN", admin)
    assert await run("report") == 0
    assert "orders/eu: needs the proxy" in capsys.readouterr().out
    monkeypatch.setenv("KIP848_PROXY_ADMIN", "none")
    assert await run("status", "--once") == 1
    assert "`admin` is none" in capsys.readouterr().err
    monkeypatch.setenv("KIP848_PROXY_ADMIN", "nowhere")
    assert await run("status", "--once") == 2


async def test_a_group_that_ends_while_its_proxy_is_asked_is_left_out(
    nursery: trio.Nursery, capsys: pytest.CaptureFixture[str]
) -> None:
    pages: Pages = {
        "/groups": lambda: json_page({"groups": [{"group_id": "gone"}]}),
        "/groups/*": lambda name: json_page({"error": f"no group {name} was seen here"}, 404),
    }
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(serve_admin, listeners, pages, Log(out=io.StringIO()))
    assert await run("status", "--admin", "{}:{}".format(*listeners[0].socket.getsockname()), "--once") == 0
    assert capsys.readouterr().out == "no members: nobody consumes in a group here now\n"


async def test_a_web_proxy_is_not_asked_for_an_admin_port(
    admin: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_ports(1)[0]}")
    assert await run("status", "--admin", admin, "--once") == 0


@pytest.mark.parametrize("command", ["status --once", "status --connections --once", "report"])
@pytest.mark.parametrize("answer", [{}, [], None, {"groups": None}])
async def test_what_is_no_admin_port_though_it_answers_in_json_is_named_with_the_remedy(
    nursery: trio.Nursery, capsys: pytest.CaptureFixture[str], command: str, answer: object
) -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    pages: Pages = {path: lambda: json_page(answer) for path in ("/groups", "/connections")}
    nursery.start_soon(serve_admin, listeners, pages, Log(out=io.StringIO()))
    assert await run(*command.split(), "--admin", "{}:{}".format(*listeners[0].socket.getsockname())) == 1
    said = capsys.readouterr().err
    assert "is this the admin port (`admin`) of a proxy? Name it: --admin HOST:PORT" in said


async def test_what_is_no_admin_port_is_named_with_the_remedy(
    nursery: trio.Nursery, capsys: pytest.CaptureFixture[str]
) -> None:
    async def banner(stream: trio.SocketStream) -> None:
        await stream.send_all(b"SSH-2.0-OpenSSH_9.2p1\r\n")
        await stream.receive_some()

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, banner, listeners)
    for place in ("a b:9", "{}:{}".format(*listeners[0].socket.getsockname())):
        assert await run("status", "--admin", place, "--once") == 1
        said = capsys.readouterr().err
        assert said.startswith(f"kip848-proxy: no proxy answers on {place} (")
        assert said.endswith("name its admin port: --admin HOST:PORT\n")


async def test_a_broker_that_says_nothing_is_not_waited_for_long(
    nursery: trio.Nursery, capsys: pytest.CaptureFixture[str]
) -> None:
    async def silent(stream: trio.SocketStream) -> None:
        while await stream.receive_some():
            pass

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, silent, listeners)
    place = "{}:{}".format(*listeners[0].socket.getsockname())
    assert await run("report", "--admin", "none", "--upstream", place) == 1
    assert f"{place} gives no answer within 5 s: its groups are missing" in capsys.readouterr().out


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
    kafka.ask(1, keys.FIND_COORDINATOR, 1, m.FindCoordinatorRequest(key=topic))
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
    assert (rows[native]["native"], rows[native]["verdict"]) == (
        1,
        "is native, as far as this proxy knows: ask the other proxies too",
    )


async def test_status_says_whose_certificate_a_client_has_shown(
    nursery: trio.Nursery, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = Ends(Desk())
    ends.link.certificate = named("billing")
    admin = await admin_port(nursery, ends=ends)
    assert await run("status", "--connections", "--admin", admin, "--once") == 0
    assert "a client CN=billing  -  " in capsys.readouterr().out


@pytest.mark.broker
async def test_status_says_who_is_connected_and_report_that_native_groups_still_are(
    kafka: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = f"connected-{uuid.uuid4()}"
    kafka.create_topic(topic, partitions=2)
    kafka.ask(1, keys.FIND_COORDINATOR, 1, m.FindCoordinatorRequest(key=topic))
    with Running(kafka.bootstrap) as proxy:
        proxy.ready()
        ask = ("status", "--connections", "--admin", f"127.0.0.1:{proxy.admin}")
        async with await Client.start("confluent-kafka", proxy.bootstrap, name="new") as client:
            client.subscribe(topic, f"{topic}-native", protocol="consumer")
            await client.until(lambda: len(client.owned) == 2, within=40)
            with closing(ByHand(("127.0.0.1", proxy.port_of(1)), topic, topic)) as legacy:
                legacy.joins()
                assert await run(*ask, "--json") == 0
                (said,) = json.loads(capsys.readouterr().out)
                assert await run(*ask, "--once") == 0
                table = capsys.readouterr().out
                report = ("report", "--admin", f"127.0.0.1:{proxy.admin}")
                assert await run(*report, "--json") == 0
                groups = {group["group_id"]: group for group in json.loads(capsys.readouterr().out)["groups"]}
                assert await run(*report) == 0
                in_words = capsys.readouterr().out
    (native,) = [each for each in said["connections"] if each["groups"] == [f"{topic}-native"]]
    assert native["client"]["software"] == "confluent-kafka-python"
    assert native["broker"] == kafka.bootstrap
    (by_hand,) = [each for each in said["connections"] if each["groups"] == [topic]]
    assert by_hand["client"]["client_id"] == "by-hand"
    assert by_hand["requests"] > 1
    assert said["open"] == len(said["connections"])
    assert f"{by_hand['client']['address']}  by-hand    unknown" in table
    told = {
        name: (group["needs_the_proxy"], group["legacy_members"], group["connections"])
        for name, group in groups.items()
    }
    assert told == {topic: (True, 1, 1), f"{topic}-native": (False, 0, 1)}
    assert (
        f"{topic}-native: is native here, and still connected through the proxy: 1 × confluent-kafka-python" in in_words
    )


@pytest.mark.broker
def test_a_group_behind_another_proxy_is_not_said_to_need_none(
    kafka: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = f"elsewhere-{uuid.uuid4()}"
    kafka.create_topic(topic, partitions=2)
    kafka.ask(1, keys.FIND_COORDINATOR, 1, m.FindCoordinatorRequest(key=topic))
    with Running(kafka.bootstrap) as one, Running(kafka.bootstrap) as other:
        other.ready()
        with closing(ByHand(("127.0.0.1", other.port_of(1)), topic, topic)) as legacy:
            legacy.joins()

            def verdict(*proxies: Running) -> tuple[int, str]:
                admins = [word for proxy in proxies for word in ("--admin", f"127.0.0.1:{proxy.admin}")]
                groups = reported(capsys, *admins, "--upstream", kafka.bootstrap)["cluster"]["groups"]
                return next((row["here"], row["verdict"]) for row in groups if row["group_id"] == topic)

            assert verdict(one.ready()) == (
                0,
                "is native, as far as this proxy knows: ask the other proxies too",
            )
            assert verdict(one, other) == (1, "needs the proxy")


@pytest.mark.broker
async def test_who_passes_is_counted_by_name_until_it_leaves_and_after_a_restart_of_the_proxy(
    kafka: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = f"passing-{uuid.uuid4()}"
    kafka.create_topic(topic, partitions=3)
    config = tmp_path / "proxy.toml"
    config.write_text('[[groups]]\npattern = "*"\nmode = "pass"\n')

    def row(proxy: Running) -> dict[str, Any]:
        said = reported(capsys, "--admin", f"127.0.0.1:{proxy.admin}", "--upstream", kafka.bootstrap)
        found: dict[str, Any] = next(row for row in said["cluster"]["groups"] if row["group_id"] == topic)
        return found

    def all_pass(proxy: Running) -> None:
        proxy.wait_for(lambda: row(proxy)["passing"] == 3, "all three are known to pass")
        said = row(proxy)
        assert (said["here"], said["legacy_direct"], said["clients_elsewhere"]) == (0, 0, {})
        assert said["verdict"] == "comes through the proxy and is not translated"
        members = json.loads(proxy.get(f"/groups/{topic}")[1])["members"]
        assert len({member["member_id"] for member in members} - {""}) == 3
        assert {member["passes"] for member in members} == {"a rule says `pass`"}

    async with (
        await Client.start("confluent-kafka", f"127.0.0.1:{(base := room(6))}", name="alice") as alice,
        await Client.start("confluent-kafka", f"127.0.0.1:{base}", name="bob") as bob,
        await Client.start("kafka-python", f"127.0.0.1:{base}", name="carol") as carol,
    ):
        with Running(kafka.bootstrap, "--config", str(config), base=base) as proxy:
            await trio.to_thread.run_sync(proxy.ready)
            for client in (alice, bob, carol):
                client.subscribe(topic, topic, strategy="range", session_timeout_ms=10_000)
            await shared_out([alice, bob, carol], 3, 1.0, within=60)
            await trio.to_thread.run_sync(all_pass, proxy)
            assert proxy.metric("groups_passing") == 1
            proxy.stop()
        with Running(kafka.bootstrap, "--config", str(config), base=base) as proxy:
            await trio.to_thread.run_sync(all_pass, proxy)
            for client in (alice, bob, carol):
                await client.close()
            await trio.to_thread.run_sync(
                proxy.wait_for, lambda: proxy.metric("groups_passing") == 0, "nobody passes any more"
            )
            assert json.loads(proxy.get("/groups")[1])["groups"] == []


@pytest.mark.broker
def test_report_says_so_where_the_cluster_answers_only_who_authenticates(
    kafka_sasl: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--admin", "none", "--upstream", kafka_sasl.bootstrap]) == 1
    said = capsys.readouterr().out
    assert f"{kafka_sasl.bootstrap} hangs up, as brokers do that answer authenticated clients only" in said


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
