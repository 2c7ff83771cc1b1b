"""What several processes of one proxy owe one another, broken in as many ways; each noticed by a test without brokers."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

SIBLINGS, RELAYING = "tests/unit/test_siblings.py", "tests/unit/test_relaying.py"
TOGETHER = "tests/proxy/test_processes.py"


def among(file: str, old: str, new: str, breaks: str, noticed_by: str) -> Mutant:
    return Mutant(file, old, new, breaks, "proxy", noticed_by)


PROCESSES = (
    among(
        "conversation.py",
        "return self.bound_for is not None and self.owed.quiet",
        "return self.bound_for is not None",
        "a connection goes when all that was asked before is answered",
        f"{SIBLINGS}::test_a_connection_goes_when_all_that_was_asked_before_is_answered",
    ),
    among(
        "conversation.py",
        "self.bound_for, self.in_hand = None, False",
        "self.bound_for = None",
        "what cannot go goes on where it is",
        f"{SIBLINGS}::test_what_cannot_go_goes_on_here",
    ),
    among(
        "link.py",
        "            self._epoll_set.change(leg.sock, leg.watched, 0)\n            self._epoll_set.forget(leg.sock)\n"
        "            leg.abandon()",
        "            self._epoll_set.forget(leg.sock)\n            leg.abandon()",
        "whoever sent a connection away hears nothing of it any more",
        f"{SIBLINGS}::test_the_first_process_hears_nothing_of_it_any_more",
    ),
    among(
        "link.py",
        "            self._counts.bytes_from_clients -= len(said)\n",
        "",
        "what a client said is counted once",
        f"{SIBLINGS}::test_it_goes_on_where_its_group_is_and_both_ends_notice_nothing",
    ),
    among(
        "dial.py",
        "        if not self._choices:\n            return\n",
        "",
        "a broker that answered another process is not dialled again",
        "tests/unit/test_dial.py::test_what_somebody_else_was_answered_on_is_not_dialled_again",
    ),
    among(
        "link.py",
        "        if self._client.ended and not (self._may_half_close or self._lingering) and conversation.quiet:\n"
        "            self.close(Cause.CLIENT_CLOSED)\n",
        "",
        "what it has asked there is answered, and then it ends",
        f"{SIBLINGS}::test_what_it_has_asked_there_is_answered_though_it_has_hung_up",
    ),
    among(
        "connections.py",
        "return None if self.draining or siblings.is_ours",
        "return None if siblings.is_ours",
        "whoever comes to one that drains is sent nowhere",
        f"{SIBLINGS}::test_nor_does_whoever_comes_to_one_that_drains",
    ),
    among(
        "connections.py",
        " + 2 * self.relayed",
        "",
        "a relayed connection takes the place of two",
        f"{SIBLINGS}::test_a_relayed_connection_takes_the_place_of_two_and_a_drain_waits_for_it",
    ),
    among(
        "doors.py",
        "for listening in bind(targets) if is_first else ():",
        "for listening in ():",
        "a port is this proxy's alone",
        f"{SIBLINGS}::test_a_port_is_shared_by_the_processes_of_one_proxy_alone",
    ),
    among(
        "siblings.py",
        "            yield not self._opened[port]\n            self._opened[port] = 1",
        "            was, self._opened[port] = self._opened[port], 1\n            yield not was",
        "a port that could not be opened is looked at again",
        f"{SIBLINGS}::test_a_port_that_could_not_be_opened_is_looked_at_again",
    ),
    among(
        "relaying.py",
        "        await trio.aclose_forcefully(near)",
        "        pass",
        "what was lent is given back",
        f"{SIBLINGS}::test_it_goes_on_where_its_group_is_and_both_ends_notice_nothing",
    ),
    among(
        "relaying.py",
        "                was_rude = True\n",
        "                pass\n",
        "a reset is told from an end",
        f"{RELAYING}::test_a_reset_by_the_other_process_is_told_from_an_end",
    ),
    among(
        "groups/journal.py",
        " and self._is_ours(read.group)",
        "",
        "of a group that is another process' now nothing is remembered",
        "tests/unit/test_journal.py::test_of_a_group_that_is_another_process_now_nothing_is_remembered",
    ),
    among(
        "processes.py",
        "        os.setpgid(0, 0)\n        os.close(self._held)\n",
        "        os.setpgid(0, 0)\n",
        "when the parent is killed all of them end",
        f"{TOGETHER}::test_when_the_parent_is_killed_they_end_in_order",
    ),
    among(
        "server.py",
        "if heard > 1 or number == AT_ONCE:",
        "if heard > 1 or number == AT_ONCE or proxy.connections.draining:",
        "a supervisor's word beside the parent's is no second request",
        f"{TOGETHER}::test_a_supervisor_that_tells_each_a_moment_after_their_parent_has_not_told_them_twice",
    ),
    among(
        "processes.py",
        "elif code > 0 and",
        "elif False and",
        "one that cannot start ends all",
        f"{TOGETHER}::test_one_that_cannot_start_ends_all_and_says_why",
    ),
    among(
        "processes.py",
        "            os.kill(pid, signal.SIGHUP)",
        "            pass",
        "all of them read the rules again",
        f"{TOGETHER}::test_one_that_ends_by_itself_is_started_again_and_knows_the_rules_of_today",
    ),
)
