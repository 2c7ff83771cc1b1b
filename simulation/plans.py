"""A run as data: who takes part, what the network is like, and what happens when. Drawn from one seed, played exactly,
cut down to what matters when it fails, and printed as a story to paste into a test.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from simulation.brokers import LINES
from simulation.errors import Error
from simulation.legacy import LegacyStyle
from simulation.native import NativeStyle
from simulation.network import Weather
from translation.rules import Rules

PEOPLE = ("alice", "bob", "carol", "dave", "erin", "frank")
NATIVES = ("nina", "nick", "nora")
STYLES: tuple[dict[str, Any], ...] = (
    {},
    {"assignor": "range"},
    {"commit_ms": 250, "ends_when_barred": True},
    {"cooperative": True, "assignor": "cooperative-sticky"},
    {"cooperative": True, "assignor": "cooperative-sticky", "sockets": 2},
    {"cooperative": True, "assignor": "cooperative-sticky", "subscription_version": 1},
    {"cooperative": True, "assignor": "cooperative-sticky", "subscription_version": 1, "claims_on": True},
    {"joins_in_a_row": 3, "subscription_version": 0},
    {"beat_ms": 500, "beat_jitter_ms": 4_500},
    {"join_version": 1, "hangs_up_after_leave": True, "beats_from_answer": True},
    {"join_version": 9, "session_timeout_ms": 45_000, "revoke_ms": 2_500, "ends_when_barred": True},
)


class Move(msgspec.Struct, frozen=True):
    """At this time, this happens (to somebody)."""

    at: int
    verb: str
    who: str = ""
    amount: int = 0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    seed: int
    line: str
    topics: dict[str, int]
    weather: Weather
    rules: Rules
    legacy: dict[str, LegacyStyle]
    natives: dict[str, NativeStyle]
    through: frozenset[str]
    moves: tuple[Move, ...]
    ends_at: int

    def __str__(self) -> str:
        people = ", ".join((*self.legacy, *self.natives))
        return f"seed {self.seed}: {self.line}, {self.topics}, {people}; {len(self.moves)} moves; {_said(self.weather)}"


def draw(seed: int) -> Plan:
    """Everything about a run follows from its seed."""
    chance = Random(seed)
    topics = {"foo": chance.randint(1, 8), "bar": chance.randint(1, 4)}
    ends_at = chance.randint(20_000, 90_000)
    legacy = {name: _style(name, chance) for name in PEOPLE[: chance.randint(1, len(PEOPLE))]}
    natives = {
        name: NativeStyle(revoke_ms=chance.choice((0, 0, 300, 4_000)))
        for name in NATIVES[: chance.randint(0, len(NATIVES))]
    }
    natives, creations = _by_expression(Random(f"expressions of {seed}"), natives, ends_at)
    everybody = [*legacy, *natives]
    moves = [Move(chance.randint(0, 5_000), "starts", name) for name in everybody]
    moves += [_move(chance, ends_at, list(legacy), everybody) for _ in range(chance.randint(0, 12))]
    moves += _withdrawals(Random(f"rights of {seed}"), moves, list(legacy), ends_at)
    moves += creations
    if any(move.verb == "changes_proxy" for move in moves):
        legacy = {name: _of_one_mind(style) for name, style in legacy.items()}
    return Plan(
        seed=seed,
        line=chance.choice(sorted(LINES)),
        topics=topics,
        weather=_weather(chance),
        rules=_rules(chance),
        legacy=legacy,
        natives=natives,
        through=frozenset(name for name in natives if chance.random() < 0.5),
        moves=tuple(sorted(moves, key=lambda move: move.at)),
        ends_at=ends_at,
    )


def _style(name: str, chance: Random) -> LegacyStyle:
    instance_id = f"i-{name}" if chance.random() < 0.3 else None
    topics = chance.choice((("foo",), ("foo",), ("foo", "bar"), ("bar",)))
    return LegacyStyle(instance_id=instance_id, topics=topics, **chance.choice(STYLES))


def _of_one_mind(style: LegacyStyle) -> LegacyStyle:
    """Two proxies do not know of each other's votes, and one vote against one is a storm of epochs on 4.4 (docs/limits)."""
    return msgspec.structs.replace(style, assignor="roundrobin") if style.assignor == "range" else style


def _weather(chance: Random) -> Weather:
    slowest = chance.choice((1, 5, 50, 300))
    loss = chance.choice((0.0, 0.0, 0.01, 0.1))
    return Weather(
        client_delay_ms=(1, chance.choice((1, 20, 200))),
        upstream_delay_ms=(1, slowest),
        request_loss=loss,
        answer_loss=loss,
    )


def _rules(chance: Random) -> Rules:
    return Rules(
        park_ms=chance.choice((3_000, 3_000, 0, 500)),
        company_ms=chance.choice((300, 0, 2_000)),
        plan_ms=chance.choice((300, 0)),
        hold_beat_part=chance.choice((0.9, 0.0)),
    )


def _move(chance: Random, ends_at: int, legacy: list[str], everybody: list[str]) -> Move:
    at = chance.randint(3_000, ends_at)
    verb = chance.choice(sorted(VERBS))
    who = chance.choice(everybody if verb in ("starts", "stops", "vanishes") else legacy)
    return Move(at, verb, who if VERBS[verb] else "", chance.choice((50, 500, 2_000, 8_000)))


def _withdrawals(chance: Random, others: list[Move], legacy: list[str], ends_at: int) -> list[Move]:
    """When something else has just happened, and for less than a session, of which a client may have been silent for half.
    Who ends for it comes again later. Drawn by themselves: the rest of a seed's plan was there before these were."""
    if chance.random() > RIGHTS_PART:
        return []
    moves = []
    for name in chance.sample(legacy, min(len(legacy), chance.randint(1, 2))):
        at = chance.choice(others).at + chance.randint(0, 1_500)
        moves.append(Move(at, "right_is_withdrawn", name, chance.choice((250, 1_000, 4_000))))
        moves.append(Move(at + chance.randint(5_000, 20_000), "starts", name))
    return [move for move in moves if move.at <= ends_at]


def _by_expression(
    chance: Random, natives: dict[str, NativeStyle], ends_at: int
) -> tuple[dict[str, NativeStyle], list[Move]]:
    """Some subscribe by one, and a topic comes that it may mean. Drawn by itself, as withdrawals are."""
    if not natives or chance.random() > EXPRESSIONS_PART:
        return natives, []
    expressions = {name: chance.choice((None, None, "foo", f"(foo|{NEW_TOPIC})", ".*")) for name in natives}
    some = {
        name: msgspec.structs.replace(style, topics=(), topic_regex=expression)
        for name, style in natives.items()
        if (expression := expressions[name]) is not None
    }
    return natives | some, [Move(chance.randint(0, ends_at), "topic_is_created")]


# Which verbs are about somebody.
VERBS = {
    "starts": True,
    "stops": True,
    "vanishes": True,
    "loses_its_sockets": True,
    "rejoins": True,
    "changes_proxy": True,
    "subscribes": True,
    "coordinator_moves": False,
    "coordinator_loads": False,
    "upstream_is_cut": False,
    "proxy_restarts": False,
    "proxy_forgets": False,
    "proxy_stops": False,
    "proxy_leaves": False,
    "proxy_stands_still": False,
    "topic_grows": False,
    "topic_is_deleted": False,
}
# In so many of the runs that have native members some of these subscribe by an expression.
EXPRESSIONS_PART = 0.3
NEW_TOPIC = "new"
# In so many runs somebody may not read the group for a while.
RIGHTS_PART = 0.3
ERRORS = {"coordinator_moves": Error.NOT_COORDINATOR, "coordinator_loads": Error.COORDINATOR_LOAD_IN_PROGRESS}


def as_story(plan: Plan) -> str:
    """The plan in the verbs of simulation.story."""
    head = [f"story = Story(LINES[{plan.line!r}], seed={plan.seed}, **{plan.topics},"]
    head += [f"    rules={_said(plan.rules)}, weather={_said(plan.weather)})"]
    head += ['story.another_proxy("second")']
    head += [f"{name} = story.legacy({name!r}{_arguments(style)})" for name, style in plan.legacy.items()]
    for name, style in plan.natives.items():
        through = ', through="proxy"' if name in plan.through else ""
        head.append(f"{name} = story.native({name!r}{through}{_arguments(style)})")
    lines, now = [], 0
    for move in plan.moves:
        if move.at > now:
            lines.append(f"story.passes({move.at - now})")
            now = move.at
        lines.append(f"story.happens({move.verb!r}, {move.who!r}, {move.amount})")
    tail = [f"story.passes({plan.ends_at - now})", "story.calms_down()"]
    return "\n".join([*head, *lines, *tail])


def _said(struct: msgspec.Struct) -> str:
    """Only what is not the default."""
    return f"{type(struct).__name__}({_arguments(struct)[2:]})"


def _arguments(struct: msgspec.Struct) -> str:
    default = type(struct)()
    names = struct.__struct_fields__
    changed = [name for name in names if getattr(struct, name) != getattr(default, name)]
    return "".join(f", {name}={getattr(struct, name)!r}" for name in changed)
