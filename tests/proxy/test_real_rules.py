"""Rules of groups that change while the proxy runs, before a real broker: nobody is disturbed, and nobody is left behind."""

from __future__ import annotations

import json
import signal
import uuid
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.clients import Client, overlaps
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running
from tests.proxy.settled import at_rest, describe, noticed
from tests.proxy.test_members import NATIVE

pytestmark = pytest.mark.broker

CLASSIC = 0
PARTITIONS = 6
PATIENCE_SECONDS = 60
GROUP_AUTHORIZATION_FAILED = 30


class Ruled(Running):
    """A proxy whose rule for all groups may change."""

    def __init__(self, kafka: Cluster, folder: Path, mode: str) -> None:
        self.config = folder / "proxy.toml"
        self._say(mode)
        super().__init__(kafka.bootstrap, "--config", str(self.config))
        self._reloads = 0

    def _say(self, mode: str, *more: str) -> None:
        self.config.write_text("\n".join(['[[groups]]\npattern = "*"', f'mode = "{mode}"', *more]))

    def rule(self, mode: str, *more: str) -> str:
        """Returns what the log has to say since."""
        self._say(mode, *more)
        before = len(self.log.read_text())
        self.process.send(signal.SIGHUP)
        self.wait_for(lambda: "settings" in self.log.read_text()[before:], "it has reloaded")
        return self.log.read_text()[before:]


def member_types(group: Any) -> dict[str, int]:
    return {member.client_id: member.member_type for member in group.members}


async def test_a_group_is_translated_and_passes_again_without_a_restart_of_the_proxy(
    kafka: Cluster, tmp_path: Path
) -> None:
    topic = f"ruled-{uuid.uuid4()}"
    await trio.to_thread.run_sync(kafka.create_topic, topic, PARTITIONS)
    with await trio.to_thread.run_sync(Ruled, kafka, tmp_path, "pass") as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        async with (
            await Client.start("confluent-kafka", proxy.bootstrap, name="one") as one,
            await Client.start("kafka-python", proxy.bootstrap, name="two") as two,
            await Client.start("confluent-kafka", proxy.bootstrap, name="three") as three,
        ):

            def joins(client: Client) -> None:
                client.subscribe(topic, topic, strategy="range", session_timeout_ms=10_000, heartbeat_interval_ms=500)

            joins(one)
            await one.until(lambda: len(one.owned) == PARTITIONS, PATIENCE_SECONDS)

            said = await trio.to_thread.run_sync(proxy.rule, "translate")
            assert f"group ruled otherwise group={topic} before=pass after=translate" in said
            joins(two)
            group = await at_rest(kafka, topic, one, two)
            assert member_types(group) == {"one": NATIVE, "two": NATIVE}

            disturbed = noticed(one), noticed(two)
            said = await trio.to_thread.run_sync(proxy.rule, "pass")
            assert f"group ruled otherwise group={topic} before=translate after=pass" in said
            joins(three)
            group = await at_rest(kafka, topic, one, two, three)
            assert member_types(group) == {"one": NATIVE, "two": NATIVE, "three": CLASSIC}
            assert len(three.owned) == 2
            assert noticed(one) != disturbed[0]

            await one.close()
            group = await at_rest(kafka, topic, two, three)
            assert member_types(group) == {"two": NATIVE, "three": CLASSIC}
            await three.produce(topic, 60)
            await two.until(lambda: len(two.values) + len(three.values) >= 60, PATIENCE_SECONDS)
            assert overlaps([one, two, three]) == []
        log = proxy.log.read_text()
        assert "session ended" not in log
        assert proxy.mistakes() == 0


def test_whom_a_new_rule_refuses_commits_and_leaves_in_order(kafka: Cluster, tmp_path: Path) -> None:
    topic = f"refused-{uuid.uuid4()}"
    kafka.create_topic(topic, 1)
    with (
        Ruled(kafka, tmp_path, "translate") as proxy,
        closing(ByHand(("127.0.0.1", proxy.ready().port_of(kafka.coordinator(topic))), topic, topic)) as member,
    ):
        member.join()
        member.sync()
        until(lambda: len(describe(kafka, topic).members) == 1, "it is a member")
        assert f"group ruled otherwise group={topic} before=translate after=refuse" in proxy.rule("refuse")
        assert member.beat() == 0
        assert member.commit(topic, 0, 1) == 0
        assert member.join().error_code == GROUP_AUTHORIZATION_FAILED
        assert member.leave().members[0].error_code == 0
        until(lambda: describe(kafka, topic).members == [], "it has left")
        assert member.beat() == GROUP_AUTHORIZATION_FAILED


def test_a_static_member_that_restarts_under_a_new_rule_leaves_no_ghost(kafka: Cluster, tmp_path: Path) -> None:
    topic = f"static-{uuid.uuid4()}"
    kafka.create_topic(topic, 1)
    with Ruled(kafka, tmp_path, "translate") as proxy:
        address = ("127.0.0.1", proxy.ready().port_of(kafka.coordinator(topic)))
        with (
            closing(ByHand(address, topic, topic, instance_id="it")) as before,
            closing(ByHand(address, topic, topic, instance_id="it")) as after,
        ):
            before.joins()
            until(partial(_are, kafka, topic, NATIVE), "it is native")
            proxy.rule("pass")
            assert after.join().error_code == 0
            until(partial(_are, kafka, topic), "its successor takes its place, and the group is a classic one again")
            proxy.wait_for(lambda: _here(proxy, topic) == {after.member_id}, "the one before it is forgotten")
            assert after.sync().error_code == after.beat() == 0


def test_another_assignor_is_asked_for_from_the_next_join_on(kafka: Cluster, tmp_path: Path) -> None:
    topic = f"assigned-{uuid.uuid4()}"
    kafka.create_topic(topic, 1)
    with (
        Ruled(kafka, tmp_path, "translate") as proxy,
        closing(ByHand(("127.0.0.1", proxy.ready().port_of(kafka.coordinator(topic))), topic, topic)) as member,
    ):
        member.joins()
        assert describe(kafka, topic).assignor_name == "uniform"
        said = proxy.rule("translate", 'assignor = "range"')
        assert f'group ruled otherwise group={topic} before=translate after="translate by range"' in said
        assert member.beat() == 0
        assert describe(kafka, topic).assignor_name == "uniform"
        member.joins()
        until(lambda: describe(kafka, topic).assignor_name == "range", "it votes for range")

        proxy.rule("translate", 'assignor = "fair"')
        member.joins()
        until(lambda: describe(kafka, topic).assignor_name == "uniform", "it takes the default instead")
        warned = f"the coordinator does not know the assignor group={topic} client=by-hand assignor=fair remedy="
        assert proxy.log.read_text().count(warned) == 1


def test_an_assignor_of_a_clients_own_is_named_once_unless_a_rule_says_what_is_asked_for(
    kafka: Cluster, tmp_path: Path
) -> None:
    topic = f"coloured-{uuid.uuid4()}"
    kafka.create_topic(topic, 1)
    with (
        Ruled(kafka, tmp_path, "translate") as proxy,
        closing(ByHand(("127.0.0.1", proxy.ready().port_of(kafka.coordinator(topic))), topic, topic)) as member,
    ):
        for protocol in ("range", "by-colour", "by-colour"):
            member.protocol = protocol
            member.joins()
        proxy.rule("translate", 'assignor = "uniform"')
        member.protocol = "by-size"
        member.joins()
        said = "the client's own assignor does not run: the coordinator assigns"
        lines = [line for line in proxy.log.read_text().splitlines() if said in line]
    assert len(lines) == 1
    assert f"group={topic} client=by-hand assignor=by-colour remedy=" in lines[0]


def test_what_an_assignor_of_a_clients_own_notes_arrives_unless_a_rule_says_what_is_asked_for(
    kafka: Cluster, tmp_path: Path
) -> None:
    """Faust's members read their leader's notes, and fail without them: who else does nobody can know."""
    topic = f"noted-{uuid.uuid4()}"
    kafka.create_topic(topic, 1)

    def comes() -> ByHand:
        member = ByHand(("127.0.0.1", proxy.port_of(kafka.coordinator(topic))), topic, topic)
        member.protocol, member.user_data = "by-colour", b"red"
        return member

    with Ruled(kafka, tmp_path, "translate") as proxy:
        proxy.ready()
        with closing(comes()) as member:
            member.join()
            member.leads(b"red is yours")
            assert member.notes == b"red is yours"
            assert member.leave().error_code == 0
        assert f"group passes untranslated group={topic}" in proxy.log.read_text()
        assert "reason=\"an assignor of its own, with user data: 'by-colour'\"" in proxy.log.read_text()

        proxy.rule("translate", 'assignor = "uniform"')
        with closing(comes()) as member:
            assert member.joins().owned == {topic: [0]}
            assert member.notes == b""
            until(partial(_are, kafka, topic, NATIVE), "it is a native member")
            # The rule goes, the member stays what it is.
            proxy.rule("translate")
            assert member.joins().owned == {topic: [0]}
            assert _are(kafka, topic, NATIVE)


def test_rules_that_are_wrong_change_nothing(kafka: Cluster, tmp_path: Path) -> None:
    topic = f"kept-{uuid.uuid4()}"
    kafka.create_topic(topic, 1)
    with (
        Ruled(kafka, tmp_path, "translate") as proxy,
        closing(ByHand(("127.0.0.1", proxy.ready().port_of(kafka.coordinator(topic))), topic, topic)) as member,
    ):
        member.join()
        said = proxy.rule("transalte")
        wrong = (
            f"groups[0].mode = 'transalte' ({proxy.config}): no such choice; choose translate, pass, refuse or dry-run"
        )
        assert f'error settings not reloaded: all stays as it was reason="{wrong}"' in said
        member.sync()
        until(partial(_are, kafka, topic, NATIVE), "it is a native member still")
        assert member.beat() == 0


def _are(kafka: Cluster, group: str, *types: int) -> bool:
    return [member.member_type for member in describe(kafka, group).members] == list(types)


def _here(proxy: Running, group: str) -> set[str]:
    return {member["member_id"] for member in json.loads(proxy.get(f"/groups/{group}")[1])["members"]}
