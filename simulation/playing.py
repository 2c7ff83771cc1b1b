"""Plays a plan: the perturbed part, then peace, then everything must come to rest. And cuts a failing plan down."""

from __future__ import annotations

import msgspec

from simulation.brokers import LINES
from simulation.errors import Error
from simulation.host import Proxy
from simulation.invariants import Broken
from simulation.legacy import LegacyClient
from simulation.network import Weather
from simulation.plans import ERRORS, NEW_TOPIC, Move, Plan
from simulation.topics import Topics
from simulation.world import World

# The stated bound: the coordinator's session timeout for those who vanished, a legacy session and its farewell on top,
# and a few rounds of heartbeats.
CONVERGES_WITHIN_MS = 120_000
CALM = Weather()
Failure = tuple[str, str]
# How many times a move's amount a proxy stands still: the longest is more than two sessions of most clients.
STANDS_STILL_TIMES = 3


def play(plan: Plan) -> World:
    world = begin(plan)
    for move in plan.moves:
        world.run(move.at - world.now)
        happen(world, move)
    world.run(plan.ends_at - world.now)
    calm_down(world)
    return world


def begin(plan: Plan) -> World:
    world = World(Topics(**plan.topics), plan.seed, LINES[plan.line], rules=plan.rules, weather=plan.weather)
    world.proxy("second")
    for name, style in plan.legacy.items():
        world.client(name, style)
    for name, native in plan.natives.items():
        world.native(name, native, "proxy" if name in plan.through else None)
    return world


def happen(world: World, move: Move) -> None:
    """What cannot happen now (stopping who is not there) does not."""
    person = world.legacy.get(move.who) or world.natives.get(move.who)
    match move.verb:
        case "starts" if person and not person.alive:
            person.starts()
        case "stops" | "vanishes" | "loses_its_sockets" | "rejoins" if person and person.alive:
            getattr(person, move.verb)()
        case "changes_proxy" if not world.proxies[world.homes[move.who]].process.is_still:
            # What it last said to one that stands still is heard when that wakes: an old commit after a new (docs/limits).
            world.moves_to(move.who, "second" if world.homes[move.who] == "proxy" else "proxy")
        case "subscribes":
            both = len(world.legacy[move.who].style.topics) > 1
            world.legacy[move.who].subscribes(*(("foo",) if both else ("foo", "bar")))
        case "right_is_withdrawn":
            world.right_is_withdrawn(move.who, move.amount)
        case "coordinator_moves" | "coordinator_loads" if world.upstream.away is None:
            world.coordinator_moves(move.amount, ERRORS[move.verb])
        case "upstream_is_cut":
            world.upstream_is_cut(move.amount)
        case "proxy_restarts" | "proxy_forgets" if world.proxies["proxy"].serves:
            world.proxy_restarts("proxy", move.verb == "proxy_restarts", move.amount)
        case "proxy_stops" | "proxy_leaves" if _heeds_signals(world.proxies["proxy"]):
            world.proxy_stops("proxy", move.amount, leaving=move.verb == "proxy_leaves")
        case "proxy_stands_still" if not world.proxies["proxy"].process.is_still:
            world.proxy_stands_still("proxy", STANDS_STILL_TIMES * move.amount)
        case "topic_is_created" if NEW_TOPIC not in world.topics.ids:
            world.topics.create(NEW_TOPIC, 2)
        case "topic_grows":
            world.topics.grow("foo", len(world.topics.of(["foo"])) + 1)
        case "topic_is_deleted" if "bar" in world.topics.ids:
            world.topics.delete("bar")
        case _:
            pass


def _heeds_signals(proxy: Proxy) -> bool:
    return proxy.serves and not proxy.process.is_still


def calm_down(world: World) -> None:
    """Perturbation ends; everybody must come to rest, and nobody may have been thrown out for nothing."""
    world.upstream.weather = CALM
    world.run(CALM.loss_noticed_ms + 10_000)
    world.settles(CONVERGES_WITHIN_MS)
    for client in world.legacy.values():
        vain = [said for said in client.refusals if said[0] != "OffsetCommit" and said[1] is Error.UNKNOWN_MEMBER_ID]
        if vain and not (client.excused or _may_hold_the_unknown(world, client) or _might_be_given_up(world)):
            raise Broken("NobodyFencedInVain", f"{client.name} was told {vain}")


def _may_hold_the_unknown(world: World, client: LegacyClient) -> bool:
    """Brokers before 4.3 do not describe what a member must give up, and who adopts it asks for the names of what it is
    subscribed to: a cooperative client that still holds what it was subscribed to before must drop everything."""
    is_undescribed = not world.coordinator.line.describes_pending_revocation
    return is_undescribed and client.style.cooperative and client.resubscribed


def _might_be_given_up(world: World) -> bool:
    """One fault followed the other for a session of the coordinator, but for the heartbeat before them and the next: then it
    is no wonder that it has not heard of somebody in all that time."""
    settings = world.coordinator.settings
    session_ms, all_but_ms = settings.session_timeout_ms, 2 * settings.heartbeat_interval_ms
    ends = [min(over, world.now) for _, over in world.hindrances]
    return any(world.hindered_ms(end - session_ms, end) >= session_ms - all_but_ms for end in ends)


def failure(plan: Plan) -> Failure | None:
    """What goes wrong when this is played: the kind, and the words."""
    try:
        play(plan)
    except Broken as broken:
        return broken.invariant, str(broken)
    except Exception as error:
        return type(error).__name__, f"{type(error).__name__}: {error}"
    return None


def shrink(plan: Plan, kind: str) -> Plan:
    """Leaves out whatever can be left out with the same kind of failure."""
    smaller = True
    while smaller:
        smaller = False
        for candidate in _without_one_thing(plan):
            found = failure(candidate)
            if found is not None and found[0] == kind:
                plan, smaller = candidate, True
                break
    return plan


def _without_one_thing(plan: Plan) -> list[Plan]:
    replace = msgspec.structs.replace
    moves = [replace(plan, moves=plan.moves[:n] + plan.moves[n + 1 :]) for n in range(len(plan.moves))]
    people = [
        _without(plan, name) for name in (*plan.natives, *plan.legacy) if len(plan.legacy) > 1 or name in plan.natives
    ]
    calmer = [replace(plan, weather=weather) for weather in (CALM,) if plan.weather != weather]
    return [*people, *calmer, *moves]


def _without(plan: Plan, name: str) -> Plan:
    return msgspec.structs.replace(
        plan,
        legacy={each: style for each, style in plan.legacy.items() if each != name},
        natives={each: style for each, style in plan.natives.items() if each != name},
        moves=tuple(move for move in plan.moves if move.who != name),
    )
