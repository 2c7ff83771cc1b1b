"""One wild client: classic, cooperative or not, static or not, with a version drawn anew for each request."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from random import Random

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.kafka.admin import until
from tests.kafka.wire import send
from tests.proxy.by_hand import ByHand
from tests.proxy.scene import word
from tests.wild.holdings import Holdings

SESSION_MS, REBALANCE_MS = 8_000, 12_000
# A client that must let go of something rejoins at once; and so many times in a row nobody must.
MOST_ROUNDS = 6
PAUSES = (0.02, 0.1, 0.3, 0.5)
# Within its session, about as long, and for longer.
SLEEPS = (2, 7, 9, 14)
# What ends a membership, and with it all that the client holds.
OVER = frozenset({"UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"})
# What a broker may say to who does such things.
ALLOWED = OVER | {
    "NONE",
    "REBALANCE_IN_PROGRESS",
    "ILLEGAL_GENERATION",
    "MEMBER_ID_REQUIRED",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE",
    "NOT_COORDINATOR",
    "UNRELEASED_INSTANCE_ID",
    "INCONSISTENT_GROUP_PROTOCOL",
}


class Wild:
    def __init__(self, name: str, address: tuple[str, int], topic: str, holdings: Holdings, chance: Random) -> None:
        self.name = name
        self._address = address
        self._topic = topic
        self._holdings = holdings
        self._chance = chance
        self._generations: dict[str, int] = {}
        self.is_static = chance.random() < 0.3
        self.said: list[str] = []
        self._begins()

    def __repr__(self) -> str:
        kind = "cooperative" if self._cooperative else "eager"
        return f"<{self.name} {kind}{' static' if self.is_static else ''} g{self._client.generation}>"

    @property
    def is_member(self) -> bool:
        return self._client.generation >= 0

    def close(self) -> None:
        self._client.close()

    def acts(self, calm: bool) -> None:
        """One thing after another. That its connection ends is no fault: it goes on where it was, on another."""
        try:
            self._next(calm)()
        except OSError as error:
            self._note(f"on a new socket: {error!r}")
            until(self._connected, "there is somebody to connect to")
        except Exception:
            self._holdings.fault(f"{self.name}: {traceback.format_exc()}")
        time.sleep(self._chance.choice(PAUSES))

    def _connected(self) -> bool:
        with suppress(OSError):
            self._client.on_new_socket()
            return True
        return False

    def _next(self, calm: bool) -> Callable[[], object]:
        if calm:
            return self._beats if self.is_member and not self._must_rejoin else self._rejoins
        if not self.is_member and self._chance.random() < 0.9:
            return self._rejoins
        weights: dict[Callable[[], object], int] = {
            self._beats: 45,
            self._commits: 15,
            self._rejoins: 10,
            self._comes_on_a_new_socket: 4,
            self._leaves: 3,
            self._leaves_and_hangs_up: 3,
            self._dies: 3,
            self._says_another_generation: 6,
            self._hangs_up_on_its_join: 3,
            self._joins: 2,
            self._syncs: 2,
            self._sleeps: 2,
        }
        return self._chance.choices(list(weights), list(weights.values()))[0]

    # ---------------------------------------------------------------------------------------------------- what it does

    def _beats(self) -> None:
        told = self._heard(word(self._client.beat(self._of_version(0, 3, 4))))
        if told != "NONE":
            self._rejoins()

    def _commits(self) -> None:
        held = self._holdings.of(self.name) or {0}
        version = 7 if self.is_static else self._chance.choice([2, 5, 7, 9])
        self._note("commit " + word(self._client.commit(self._topic, min(held), 5, version)))

    def _rejoins(self) -> None:
        """Again for as long as it must let go of something."""
        for _ in range(MOST_ROUNDS):
            if not self._joins() or not self._syncs():
                return

    def _joins(self) -> bool:
        version = self._of_version(0, 1, 3, 4, 5, 7, 9, static=(5, 7, 9))
        answer = self._client.join(version, self._claims())
        if self._heard(word(answer.error_code)) != "NONE":
            return False
        if answer.generation_id < self._generations.get(answer.member_id, -1):
            self._holdings.fault(f"{self.name}: generation {answer.generation_id} comes after a higher one")
        self._generations[answer.member_id] = answer.generation_id
        return True

    def _claims(self) -> dict[str, list[int]]:
        """An eager client lets go of all before it joins."""
        self._must_rejoin = True
        if not self._cooperative:
            self._holdings.keeps(self.name, set())
        return {self._topic: sorted(self._holdings.of(self.name))}

    def _syncs(self) -> bool:
        """Whether it must rejoin to let go of something."""
        self._client.owned = {}
        answer = self._client.sync(self._of_version(0, 2, 3, 5, static=(3, 5)))
        if self._heard(word(answer.error_code)) != "NONE":
            return False
        self._must_rejoin = False
        told = set(self._client.owned.get(self._topic, []))
        must_let_go = not self._holdings.of(self.name) <= told
        self._holdings.keeps(self.name, told)
        self._holdings.takes(self.name, told)
        return self._cooperative and must_let_go

    def _comes_on_a_new_socket(self) -> None:
        self._client.on_new_socket()

    def _leaves(self) -> None:
        self._note("leaves")
        self._client.leave(self._of_version(1, 3, 4, static=(3, 4)))
        self._forgets()

    def _leaves_and_hangs_up(self) -> None:
        self._note("leaves and hangs up")
        request = m.LeaveGroupRequest(group_id=self._topic, member_id=self._client.member_id)
        send(self._client.sock, keys.LEAVE_GROUP, 1, request)
        self._client.on_new_socket()
        self._forgets()

    def _dies(self) -> None:
        self._note("dies")
        self._holdings.keeps(self.name, set())
        self._client.close()
        self._begins()

    def _says_another_generation(self) -> None:
        """It hears that it is none of this one, and is none the worse for it."""
        other = self._client.generation + self._chance.choice([-1, 1, 9])
        self._note("beat of another generation " + word(self._client.beat(3, other)))

    def _hangs_up_on_its_join(self) -> None:
        send(self._client.sock, keys.JOIN_GROUP, 5, self._client.join_request(self._claims()))
        self._note("hangs up on its join")
        time.sleep(self._chance.choice([0, 0.01, 0.2]))
        self._client.on_new_socket()
        self._rejoins()

    def _sleeps(self) -> None:
        """Who sleeps reads nothing; if for long, it looks for its group when it wakes."""
        seconds = self._chance.choice(SLEEPS)
        self._note(f"sleeps {seconds}")
        if seconds > SESSION_MS / 2_000:
            self._holdings.keeps(self.name, set())
            self._must_rejoin = True
        time.sleep(seconds)

    # ---------------------------------------------------------------------------------------------------- what it hears

    def _heard(self, told: str) -> str:
        self._note(told)
        if told not in ALLOWED:
            self._holdings.fault(f"{self.name} hears {told}")
        if told in OVER or told == "ILLEGAL_GENERATION":
            self._holdings.keeps(self.name, set())
        if told in OVER:
            self._forgets()
        return told

    def _forgets(self) -> None:
        self._holdings.keeps(self.name, set())
        self._client.member_id, self._client.generation = "", -1

    def _begins(self) -> None:
        chance = self._chance
        self._cooperative = chance.random() < 0.5
        self._must_rejoin = True
        self._client = client = ByHand(
            self._address, self._topic, self._topic, instance_id=self.name if self.is_static else None
        )
        client.client_id = self.name
        client.protocol = "cooperative-sticky" if self._cooperative else "range"
        client.subscription_version = chance.choice([1, 2, 3]) if self._cooperative else chance.choice([0, 1, 2])
        client.says_generation = True
        client.session_timeout_ms, client.rebalance_timeout_ms = SESSION_MS, REBALANCE_MS

    def _of_version(self, *versions: int, static: tuple[int, ...] = (3, 4)) -> int:
        return self._chance.choice(static if self.is_static else versions)

    def _note(self, what: str) -> None:
        self.said.append(f"{time.monotonic():.2f} {what} {sorted(self._holdings.of(self.name))}")
