"""What leaves together must still leave in order, broken in as many ways; each noticed by a test without brokers."""

from __future__ import annotations

from tests.mutants.mutant import Mutant


def sent(file: str, old: str, new: str, breaks: str, test: str) -> Mutant:
    return Mutant(file, old, new, breaks, "proxy", f"tests/unit/test_volley.py::{test}")


VOLLEYS = (
    sent(
        "link.py",
        "                volley.fire()\n                self._said",
        "                self._said",
        "what is answered here waits for what its broker said",
        "test_what_is_answered_here_does_not_overtake_what_its_broker_said_before",
    ),
    sent(
        "link.py",
        "                volley.fire()\n                self._moves",
        "                self._moves",
        "what is answered here waits for what its broker said, though it came in two pieces",
        "test_what_is_answered_here_does_not_overtake_what_its_broker_said_before",
    ),
    sent(
        "link.py",
        "        self._volley.fire()\n        if self._closed or self.conversation.inside",
        "        if self._closed or self.conversation.inside",
        "what is asked here waits for what its client asked",
        "test_nothing_that_is_asked_here_meanwhile_overtakes_what_its_client_asked",
    ),
    sent(
        "link.py",
        "        self._volley.fire()\n        if self._closed or (cause",
        "        if self._closed or (cause",
        "a client has heard what its broker said before it is hung up on",
        "test_whose_connection_is_closed_meanwhile_has_heard_what_its_broker_said_before",
    ),
    sent(
        "epoll_set.py",
        "            self._serve_lanes(others)\n            self.volley.fire()",
        "            self._serve_lanes(others)",
        "nothing waits for the next time that something happens",
        "test_who_waits_behind_those_who_only_pass_something_on_waits_for_nobody_after_that",
    ),
    sent(
        "epoll_set.py",
        "        self.volley.fire()\n        for descriptor",
        "        for descriptor",
        "nothing of the pair aside waits when it has its turn",
        "test_who_is_aside_says_nothing_while_anything_waits_and_leaves_nothing_waiting",
    ),
    sent(
        "epoll_set.py",
        "        self.volley.fire()\n        self._aside.end_turn()",
        "        self._aside.end_turn()",
        "nothing of the pair aside waits when its turn is over",
        "test_who_is_aside_says_nothing_while_anything_waits_and_leaves_nothing_waiting",
    ),
    sent(
        "volley.py",
        "                short.append((sender, failure))\n        for sender, failure in short:\n            sender",
        "                sender",
        "nobody hears that something fell short before all is kept that did",
        "test_who_hears_that_it_fell_short_overtakes_nobody_with_what_it_says_then",
    ),
    sent(
        "leg.py",
        "        if result < 0:\n            result = self.not_sent",
        "        if result < -200:\n            result = self.not_sent",
        "an error is no number of bytes",
        "test_who_takes_not_all_of_it_is_owed_the_rest_and_nobody_else_notices",
    ),
)
