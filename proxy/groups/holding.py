"""Heartbeats that are held, and what waits behind them on the same connection.

Answers keep the order of requests, so whatever comes behind a held Heartbeat ends its hold. That a client sends nothing for
just as long as its Heartbeat is held is seen only afterwards, and its member is told: it is held no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_protocol.messages import keys
from proxy.groups import classic
from proxy.groups.line import Key, Line
from translation import actions as do
from translation import errors as e
from translation import events as ev

if TYPE_CHECKING:
    from proxy.groups.host import Host
    from proxy.groups.requests import Requests, Waiting

# A Heartbeat that was held for so long has kept from its turn whatever waited behind it; that comes within this time.
LONG_HOLD_MS, BEHIND_MS = 250, 25


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
            line.connection.conversation.asks_ahead = True
            self._interrupting = True
            self._host.feed(key, ev.HoldInterrupted(request=line.number))
            self._interrupting = False

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
        if conversation.asks_ahead:
            # What comes by chance just now would not have waited.
            return
        requests = conversation.requests

        def look() -> None:
            if conversation.requests > requests:
                self._host.feed(key, ev.HoldHurt())

        self._host.clock.at(now_ms + BEHIND_MS, look)
