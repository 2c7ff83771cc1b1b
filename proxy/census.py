"""The cluster's own word on its groups: which there are, what they speak, and who is in them.

The proxy sees only who connects through it. So each broker is asked what it coordinates: ListGroups, then DescribeGroups
for what is classic and ConsumerGroupDescribe for what is not. It is asked as `check` asks (visiting.py), without
credentials: a broker that answers authenticated clients only, or is out of reach, is named with its reason; with TLS,
rights are the certificate's. A broker leaves out of its list what the asker may not DESCRIBE, and says nothing of it.
"""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

import msgspec
import trio

from proxy.addresses import Address, Directory
from proxy.groups import native
from proxy.groups.convertible import keeps_natives_out
from proxy.groups.native import Versions
from proxy.logs import Log
from proxy.scout import CannotAsk
from proxy.settings import Settings
from proxy.tls import UpstreamSide
from proxy.visiting import ANSWER_SECONDS as FIRST_ANSWER_SECONDS
from proxy.visiting import CANNOT_ASK, answer_to, dial, in_words, learn_brokers

CLASSIC, CONSUMER = "classic", "consumer"
DESCRIBED_AT_ONCE = 50
# For all that one broker is asked, once it has shown that it is there.
ANSWER_SECONDS = 30.0
CREDENTIALS = "hangs up, as brokers do that answer authenticated clients only: the proxy has no credentials"


class Refused(CannotAsk):
    """A broker answers, with an error in place of a list."""


class ListedMember(msgspec.Struct, frozen=True):
    """`speaks`: to the broker itself, where a member that the proxy translates speaks `consumer`."""

    member_id: str
    client_id: str
    client_host: str
    speaks: str


class ListedGroup(msgspec.Struct, frozen=True):
    """`refused`: an error code in place of members. Those of share and streams groups are not looked at.
    `refuses_natives`: what its members say of themselves keeps native ones out (not known while it rebalances)."""

    group_id: str
    type: str
    protocol_type: str
    state: str
    members: tuple[ListedMember, ...] = ()
    refused: int = 0
    refuses_natives: bool = False


class Census(msgspec.Struct, frozen=True):
    """`silent`: brokers that could not be asked, and why; their groups are missing."""

    groups: list[ListedGroup]
    silent: dict[str, str]


async def census(settings: Settings) -> Census:
    directory = Directory(settings)
    tls = UpstreamSide(settings.upstream_tls, Log(out=io.StringIO())) if settings.upstream_tls else None
    taken = Census([], {})

    async def learn(stream: trio.abc.Stream, _: Versions) -> None:
        await learn_brokers(stream, directory)

    async def count(stream: trio.abc.Stream, versions: Versions) -> None:
        taken.groups.extend(await _groups(stream, versions))

    for address in directory.seeds:
        await _visit(address, tls, learn, taken)
        if directory.nodes:
            # Who the brokers are is known: a seed that was silent is one of them, or none of ours.
            taken.silent.clear()
            break
    for address in list(directory.nodes.values()):
        await _visit(address, tls, count, taken)
    taken.groups.sort(key=lambda group: group.group_id)
    return taken


async def _visit(
    address: Address,
    tls: UpstreamSide | None,
    ask: Callable[[trio.abc.Stream, Versions], Awaitable[None]],
    taken: Census,
) -> None:
    versions: Versions | None = None
    try:
        with trio.fail_after(FIRST_ANSWER_SECONDS) as patience:
            stream = await dial(address, tls)
            try:
                versions = native.versions_of(await answer_to(stream, native.ask_versions()))
                patience.deadline += ANSWER_SECONDS
                await ask(stream, versions)
            finally:
                await trio.aclose_forcefully(stream)
    except trio.TooSlowError:
        waited = FIRST_ANSWER_SECONDS if versions is None else ANSWER_SECONDS
        taken.silent[str(address)] = f"gives no answer within {waited:.0f} s"
    except CANNOT_ASK as failure:
        hung_up = isinstance(failure, CannotAsk | trio.BrokenResourceError) and not isinstance(failure, Refused)
        reason = CREDENTIALS if hung_up and versions is not None else f"cannot be asked: {in_words(failure)}"
        taken.silent[str(address)] = reason


# --- questions -----------------------------------------------------------------------------------------------------


async def _groups(stream: trio.abc.Stream, versions: Versions) -> list[ListedGroup]:
    answer = await answer_to(stream, native.ask_list(versions))
    if answer.error_code:
        raise Refused(f"answers ListGroups with error {answer.error_code}")
    listed = [
        ListedGroup(each.group_id, (each.group_type or CLASSIC).lower(), each.protocol_type, each.group_state)
        for each in answer.groups
    ]
    described = {**await _classic(stream, listed), **await _consumer(stream, listed, versions)}
    return [described.get(group.group_id, group) for group in listed]


async def _classic(stream: trio.abc.Stream, listed: list[ListedGroup]) -> dict[str, ListedGroup]:
    found = {}
    for some in _batches(group for group in listed if group.type == CLASSIC):
        for answer in (await answer_to(stream, native.ask_classic_members(some))).groups:
            members = tuple(_member(each, CLASSIC) for each in answer.members)
            found[answer.group_id] = msgspec.structs.replace(
                some[answer.group_id],
                state=answer.group_state,
                members=members,
                refused=answer.error_code,
                refuses_natives=any(_keeps_natives_out(each) for each in answer.members),
            )
    return found


def _keeps_natives_out(each: Any) -> bool:
    return keeps_natives_out(bytes(each.member_metadata), bytes(each.member_assignment))


async def _consumer(stream: trio.abc.Stream, listed: list[ListedGroup], versions: Versions) -> dict[str, ListedGroup]:
    found = {}
    for some in _batches(group for group in listed if group.type == CONSUMER):
        answer = await answer_to(stream, native.ask_description(some, versions))
        for group in native.descriptions(answer):
            members = tuple(_member(each, CLASSIC if each.classic else CONSUMER) for each in group.members)
            found[group.group_id] = msgspec.structs.replace(
                some[group.group_id], state=group.state, members=members, refused=group.error_code
            )
    return found


def _member(each: Any, speaks: str) -> ListedMember:
    return ListedMember(each.member_id, each.client_id, each.client_host.lstrip("/"), speaks)


def _batches(groups: Iterable[ListedGroup]) -> Iterator[dict[str, ListedGroup]]:
    whole = list(groups)
    for first in range(0, len(whole), DESCRIBED_AT_ONCE):
        yield {group.group_id: group for group in whole[first : first + DESCRIBED_AT_ONCE]}
