"""Who is it that speaks for a member we do not have? The coordinator knows, and says so on that client's own connection.

- A member of the group upstream: it was ours before a restart, or came from another proxy. It is adopted.
- A classic member, in a consumer group that a broker translates for it or in a classic group: its requests pass; at its
  next JoinGroup it is adopted, if the group is a consumer group.
  What a broker waits for from it comes first (`_catch_up`).
- Nobody: a JoinGroup is a newcomer's; anything else is refused best by the broker itself.
- Brokers may offer to describe consumer groups and have none (3.9, and 4 with group.version 0): all that is asked passes.

Strangers of one group who come at the same time, as after a restart, share what is asked about them (sharing.py).

It is also asked who holds an instance id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kafka_protocol.messages import keys
from proxy.groups import classic, convertible, native
from proxy.groups.line import Key, Line
from proxy.groups.native import SeenGroup, SeenMember
from proxy.groups.sharing import Shared
from translation import errors as e
from translation import events as ev
from translation.adopting import may_be_adopted, still_valid

if TYPE_CHECKING:
    from proxy.groups.host import Host
    from proxy.groups.requests import Requests

# With these the coordinator has spoken: the group exists as a consumer group, or does not.
SPOKEN = frozenset({e.NONE, e.GROUP_ID_NOT_FOUND})

# It has spoken, and may not say more: not allowed to read the group, or to describe a topic of some member of it.
UNTOLD = frozenset({e.GROUP_AUTHORIZATION_FAILED, e.TOPIC_AUTHORIZATION_FAILED})

# A group that moves on between a JoinGroup and its SyncGroup asks for both again; one that does so every time has gone mad.
CATCH_UP_TRIES = 5


class Recognition:
    def __init__(self, host: Host, requests: Requests) -> None:
        self._host = host
        self._requests = requests
        self._groups: Shared[str, SeenGroup] = Shared(
            host.clock,
            lambda group_id, line: native.ask_description([group_id], line.versions),
            native.described,
            lambda _, group: group.error_code in SPOKEN,
        )
        # Of these topics, names by id; none of one that is deleted, or that whoever asks may not describe.
        self._topics: Shared[tuple[str, ...], Mapping[str, str | None]] = Shared(
            host.clock,
            lambda topics, _: native.ask_ids(topics),
            native.names,
            _has_all,
        )
        self._asked: dict[Key, list[int]] = {}
        # Requests whose members owe no broker anything any more.
        self._caught_up: set[int] = set()

    def describe(self, group_id: str, line: Line, heard: Callable[[SeenGroup | None], None]) -> None:
        """`heard` is called once, with the group as it is by now, or with None where nobody says."""
        self._groups.ask(group_id, line, heard)

    def ask(self, number: int, key: Key) -> None:
        """Requests for the same stranger wait for the same answer."""
        if key in self._asked:
            self._asked[key].append(number)
            return
        self._asked[key] = [number]
        self.describe(key[0], self._requests.line_of(number), lambda group: self._described(key, group))

    def _described(self, key: Key, group: SeenGroup | None) -> None:
        if group is not None and group.error_code == e.UNSUPPORTED_VERSION:
            for number in self._asked.pop(key):
                self._caught_up.discard(number)
                self._requests.pass_on(number, "the brokers know no consumer groups")
            return
        if group is not None and group.error_code in UNTOLD:
            for number in self._asked.pop(key):
                self._judge_unseen(number, key)
            return
        if group is None or group.error_code not in SPOKEN:
            for number in self._asked.pop(key):
                self._caught_up.discard(number)
                self._requests.refuse(number, e.NOT_COORDINATOR)
            return
        member = group.member(key[1])
        if member is None:
            self._judge_all(key, group, None)
            return
        # Its client may claim what is no longer assigned to it: names of all its topics are needed to understand it.
        line = self._requests.line_of(self._asked[key][0])
        self._topics.ask(
            member.topics, line, lambda names: self._judge_all(key, group, native.with_names(member, names or {}))
        )

    def _judge_all(self, key: Key, group: SeenGroup, member: SeenMember | None) -> None:
        for number in self._asked.pop(key):
            self._judge(number, key, group, member)

    def _judge(self, number: int, key: Key, group: SeenGroup, member: SeenMember | None) -> None:
        is_join = self._requests.request_of(number).key == keys.JOIN_GROUP
        caught_up = number in self._caught_up
        self._caught_up.discard(number)
        if key in self._host.members:
            self._requests.speak(number, key)
        elif member is not None and member.classic and is_join and not caught_up:
            self._catch_up(number, key)
        elif member is not None and not member.classic and self._may_be_native(number, key):
            self._requests.pass_in_doubt(number)
        elif member is not None and (is_join or not member.classic):
            self._adopt(number, key, member)
        elif member is not None or not is_join:
            self._requests.pass_on(number, "a broker translates for this member, or it needs no translation")
        elif group.error_code == e.GROUP_ID_NOT_FOUND:
            self._ask_classic(number, key)
        elif group.has_instance(self._requests.request_of(number).body.group_instance_id):
            # Not "unknown": it would come back without an id, and take the instance from the process that has it now.
            self._requests.refuse(number, e.FENCED_INSTANCE_ID)
        else:
            self._requests.speak(number, key)

    def _judge_unseen(self, number: int, key: Key) -> None:
        """The broker knows whether it has that member. A native one, which no classic request speaks for, it calls unknown:
        so its client begins anew, and what it had is free when the coordinator's session has ended."""
        self._caught_up.discard(number)
        if key in self._host.members:
            self._requests.speak(number, key)
        elif self._requests.request_of(number).key == keys.JOIN_GROUP:
            self._requests.refuse(number, e.UNKNOWN_MEMBER_ID)
        else:
            self._requests.pass_on(number, "its group may not be described")

    def _catch_up(self, number: int, key: Key, tries: int = CATCH_UP_TRIES) -> None:
        """A broker that told a classic member to rejoin waits for its JoinGroup as long as its rebalance may take, then for
        its SyncGroup, and then removes it, whoever speaks for it by then. Nothing but these two ends the wait."""
        line, request = self._requests.line_of(number), convertible.join(self._requests.request_of(number))

        def joined(answer: Any) -> None:
            if answer is None or answer.error_code != e.NONE:
                self._caught_up_with(number, key)
            else:
                line.ask(classic.ask_sync(request, answer.generation_id), synced)

        def synced(answer: Any) -> None:
            if answer is not None and answer.error_code == e.REBALANCE_IN_PROGRESS and tries > 1:
                self._catch_up(number, key, tries - 1)
            else:
                self._caught_up_with(number, key)

        line.ask(classic.ask_join(request), joined)

    def _caught_up_with(self, number: int, key: Key) -> None:
        """Or refused: who it is by now, the coordinator says best."""
        self._caught_up.add(number)
        self.ask(number, key)

    def _may_be_native(self, number: int, key: Key) -> bool:
        """Native members commit as legacy ones do, at versions that begin where theirs end. One that we have told
        something is none of them."""
        return key not in self._host.journal.entries and classic.may_come_from_native(self._requests.request_of(number))

    def _adopt(self, number: int, key: Key, member: SeenMember) -> None:
        if self._requests.request_of(number).key == keys.TXN_OFFSET_COMMIT:
            # It comes on a producer's connection, and nothing but the consumer's own word says where the member speaks.
            return self._requests.refuse(number, e.COORDINATOR_LOAD_IN_PROGRESS)
        request = self._requests.event_of(number, key)
        if not may_be_adopted(member.epoch, request):
            return self._requests.refuse(number, e.UNKNOWN_MEMBER_ID)
        journal = still_valid(self._host.journal.entries.get(key), request, member.assigned)
        adopted = member.found(journal, getattr(request, "generation", -1))
        line = self._requests.line_of(number)
        self._host.log.info(
            "member adopted",
            group=key[0],
            member=key[1],
            client=line.client.client_id,
            address=line.client.address,
            epoch=member.epoch,
            journal=adopted.journal is not None,
        )
        self._requests.untranslated.translated(key)
        self._host.feed(key, adopted, line)
        return self._requests.speak(number, key)

    def _ask_classic(self, number: int, key: Key) -> None:
        """A member of a classic group stays one until it begins anew: it may hold what nobody could grant it here."""
        line = self._requests.line_of(number)
        line.ask(native.ask_classic_members([key[0]]), lambda answer: self._classic(number, key, answer))

    def _classic(self, number: int, key: Key, answer: Any) -> None:
        if answer is not None and key[1] in native.classic_members(answer):
            self._requests.pass_on(number, "it is a member of a classic group")
        else:
            self._requests.speak(number, key)

    def find_registered(self, key: Key, instance_id: str) -> None:
        line = self._host.lines.get(key)
        if line is not None:
            self.describe(key[0], line, lambda group: self._registered(key, instance_id, group))

    def _registered(self, key: Key, instance_id: str, group: SeenGroup | None) -> None:
        if group is not None and group.error_code == e.NONE:
            found = next((member.member_id for member in group.members if member.instance_id == instance_id), None)
            self._host.feed(key, ev.RegisteredMemberFound(member_id=found))


def _has_all(topics: tuple[str, ...], names: Mapping[str, str | None]) -> bool:
    return set(topics) <= set(names.values())
