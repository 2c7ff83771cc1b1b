"""Heartbeats that are held, and what waits behind them on the same connection.

Answers keep the order of requests, so whatever comes behind a held Heartbeat ends its hold. That a client sends nothing for
just as long as its Heartbeat is held is seen only afterwards, and its member is told: it is held no more. Nor are those that
come after it to the same group, with the same software. And where much is asked on the connection no hold would last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_protocol.messages import keys
from proxy.groups import classic
from proxy.groups.line import Key, Line
from translation import actions as do
from translation import errors as e
from translation import events as ev
from translation.holding import has_shown_it

if TYPE_CHECKING:
    from proxy.groups.host import Host
    from proxy.groups.requests import Requests, Waiting

# What waited behind a Heartbeat that was held for LONG_HOLD_MS or longer comes within BEHIND_MS of its answer.
LONG_HOLD_MS, BEHIND_MS = 250, 25
# Where so many requests come between two Heartbeats, one would soon end each hold; and a client whose timer begins with the
# answer would beat later for nothing.
MUCH_BETWEEN = 5
# Of a large group, whom a newcomer is compared with.
MOST_ASKED = 16


class Holds:
    def __init__(self, host: Host, requests: Requests) -> None:
        self._host = host
        self._requests = requests
        self._interrupting = False

    def interrupted(self, line: Line) -> None:
        """More has come on a connection whose Heartbeat may be held."""
        waiting = self._requests.waiting(line.number)
        if waiting is not None and waiting.request.key == keys.HEARTBEAT and line.number is not None:
            key = (waiting.request.body.group_id, waiting.request.body.member_id)
            line.connection.conversation.ahead.is_seen = True
            self._interrupting = True
            self._host.feed(key, ev.HoldInterrupted(request=line.number))
            self._interrupting = False

    def would_hurt(self, line: Line) -> bool:
        """Holding its Heartbeat: others wait behind it or soon come, as far as that is seen beforehand."""
        is_busy = line.beats() >= MUCH_BETWEEN
        return is_busy or line.connection.conversation.ahead.keeps_itself_waiting

    def hurt_kin(self, group_id: str, line: Line) -> bool:
        """Most of a few neighbours of its kind stand no holds."""
        neighbours = [(group_id, name) for name in self._host.together.here(group_id)[:MOST_ASKED]]
        kin = [key for key in neighbours if key in self._host.lines and self._host.lines[key].is_like(line)]
        return 2 * sum(map(self._is_hurt, kin)) > len(kin)

    def _is_hurt(self, key: Key) -> bool:
        conversation = self._host.lines[key].connection.conversation
        return has_shown_it(self._host.members[key]) or conversation.ahead.keeps_itself_waiting

    def answer(self, key: Key, order: do.AnswerHeartbeat) -> None:
        waiting = self._requests.waiting(order.request)
        self._requests.answer_order(order, lambda request, told: classic.heartbeat_answer(request, told.error_code))
        if waiting is not None and order.error_code == e.NONE and not self._interrupting:
            self._look_behind(key, waiting)

    def _look_behind(self, key: Key, waiting: Waiting) -> None:
        now_ms = self._host.clock.now_ms
        if now_ms - waiting.at_ms < LONG_HOLD_MS:
            return
        conversation = waiting.line.connection.conversation
        requests = conversation.requests

        def look() -> None:
            """From a client that asks ahead it shows nothing: it may be one commit of thousands."""
            if conversation.requests > requests and not conversation.ahead.is_seen:
                self._host.feed(key, ev.HoldHurt())

        self._host.clock.at(now_ms + BEHIND_MS, look)
