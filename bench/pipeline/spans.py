"""Realistic spans in any number: groups of members that come, are disturbed in rolls, and go; one roll an hour.

A member's life is 10 spans: 7 transitions and the requests around them, as the proxy writes them for an eager Java client.
A life is told once for each place in a group, by the writer that tests use, and its JSON becomes a template: who it is
about, when, and the ids are all that differs between lives, so telling another one is filling in.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bench.pipeline.writer import BEGAN_NS, request, span
from tests.pipeline.telling import Planted
from translation.states import Phase, Standing

MEMBERS, PARTITIONS_EACH, SPANS_A_LIFE, GROUPS = 20, 4, 10, 50
LIFE_MS, STAGGER_MS = 3_600_000, 20_000
PER_FILE, PER_REQUEST = 50_000, 100
# Stand in the told life for what is filled in; nothing else in a span looks like them.
GROUP, MEMBER, EPOCH, AT = "<group>", "<member>", 777_777, 10**12
AT_NS = BEGAN_NS + AT * 1_000_000
ID_BITS = 192


class Template(NamedTuple):
    """`text` is for `%`; `since_ms` and `since_ns` are the distances of its times from the beginning of the life."""

    text: str
    since_ms: dict[str, int]
    since_ns: dict[str, int]


def write(folder: Path, count: int) -> int:
    """Into files of some 60 MB; the number of spans."""
    folder.mkdir(parents=True, exist_ok=True)
    told = _requests(count // SPANS_A_LIFE)
    for number in range(-(-count // PER_FILE)):
        with (folder / f"{number:04}.json").open("w") as file:
            file.writelines(islice(told, PER_FILE // PER_REQUEST))
    return count // SPANS_A_LIFE * SPANS_A_LIFE


def _requests(lives: int) -> Iterator[str]:
    before, after = request([]).split('"spans":[]')
    told = _lives(lives)
    while some := ",".join(islice(told, PER_REQUEST // SPANS_A_LIFE)):
        yield f'{before}"spans":[{some}]{after}\n'


def _lives(lives: int) -> Iterator[str]:
    """The same each time: chance has a seed."""
    chance = random.Random(848)
    templates = [_template(number) for number in range(MEMBERS)]
    for number in range(lives):
        group, member = divmod(number, MEMBERS)
        hour, group = divmod(group, GROUPS)
        at = hour * LIFE_MS + member * STAGGER_MS
        who = {"group": f"group-{group:02}", "member": f"app-{group}-{member}-{hour}", "epoch": hour + 1}
        yield _filled(templates[member], who, at, chance)


def _filled(template: Template, who: dict[str, Any], at: int, chance: random.Random) -> str:
    ids = {f"id{number}": f"{chance.getrandbits(ID_BITS):048x}" for number in range(SPANS_A_LIFE)}
    identity = {f"{name}t": each[:32] for name, each in ids.items()} | {
        f"{name}s": each[32:] for name, each in ids.items()
    }
    ms = {name: at + since for name, since in template.since_ms.items()}
    began_ns = BEGAN_NS + at * 1_000_000
    ns = {name: began_ns + since for name, since in template.since_ns.items()}
    return template.text % (who | identity | ms | ns)


def _template(number: int) -> Template:
    spans = [
        {**each, "traceId": f"%(id{place}t)s", "spanId": f"%(id{place}s)s"} for place, each in enumerate(_life(number))
    ]
    text = json.dumps(spans, separators=(",", ":"))[1:-1]
    for sentinel, slot in ((GROUP, "%(group)s"), (MEMBER, "%(member)s"), (f'"{EPOCH}"', '"%(epoch)d"')):
        text = text.replace(sentinel, slot)
    times = {each: int(each) for each in re.findall(r'"(\d{13,19})"', text)}
    since_ns = {f"ns{each}": at - AT_NS for each, at in times.items() if at >= AT_NS}
    since_ms = {f"ms{each}": at - AT for each, at in times.items() if AT <= at < AT_NS}
    for name in (*since_ns, *since_ms):
        text = text.replace(f'"{name[2:]}"', f'"%({name})d"')
    return Template(text, since_ms, since_ns)


def _life(number: int) -> list[dict[str, Any]]:
    mine = tuple(range(number * PARTITIONS_EACH, (number + 1) * PARTITIONS_EACH))
    it = Planted(GROUP, MEMBER, client_id=f"app-{number}").joins(AT, *mine, epoch=EPOCH)
    it.steps(AT + 600_000, phase=Phase.PREPARE_REBALANCE, standing=Standing.RECONCILING, assigned=mine[:-1])
    it.steps(AT + 601_000, "JoinRequested", phase=Phase.COMPLETING_REBALANCE, standing=Standing.STABLE, owned=())
    it.steps(AT + 601_050, "SyncRequested", phase=Phase.STABLE, owned=mine[:-1])
    it.leaves(AT + LIFE_MS - 100_000)
    asked = [("JoinGroup", AT), ("JoinGroup", AT + 601_000), ("SyncGroup", AT + 601_040)]
    return it.spans + [_request(name, when) for name, when in asked]


def _request(name: str, at: int) -> dict[str, Any]:
    ns = BEGAN_NS + at * 1_000_000
    return span(name, ns, ns + 3_000_000, f"{name} {at}", {"group_id": GROUP, "member_id": MEMBER, "error_code": 0})
