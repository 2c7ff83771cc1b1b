"""Break what the proxy sees to beside the translation, and see the test that is there for it notice, before a real broker
mostly: `python -m tests.mutants.hosting [WORD ...]`.

One after the other, each in a temporary copy of the proxy: half a minute each, most of it the broker's start.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.__main__ import GREEN, RED, TREE, Outcome, first_failure, table
from tests.mutants.mutant import Mutant, Outdated
from tests.mutants.processes import PROCESSES
from tests.mutants.volleys import VOLLEYS

# A proxy runs from the working directory, and a test without one imports what is beside it.
COPIED = ("proxy", "translation", "kafka_protocol", "tests")
# What is fetched and built for tests, and how they are run.
SHARED = (".build", "pyproject.toml")
PYTEST = (sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "--tb=short", "-p", "no:cacheprovider")
ON_THE_WAY, REQUESTS = "tests/proxy/test_on_the_way.py", "tests/proxy/test_group_requests.py"
NATIVES_ONLY = "return key not in self._host.journal.entries and classic.may_come_from_native"


def hosted(file: str, old: str, new: str, breaks: str, noticed_by: str) -> Mutant:
    return Mutant(file, old, new, breaks, "proxy/groups", noticed_by)


HOSTING = (
    hosted(
        "line.py",
        "        if self.versions and self._taker.clock.now_ms < self._admitted.get(group_id, 0):\n            then(e.NONE)",
        "        if True:\n            self.know_versions(lambda: then(e.NONE))",
        "who may not read a group hears so before a word is said of its members",
        "tests/proxy/test_real_acls.py::"
        "test_who_may_not_read_the_group_speaks_for_nobody_in_it_though_it_knows_the_members_words",
    ),
    hosted(
        "host.py",
        "return line if line is not None and self.members[key].is_heard else",
        "return line if line is not None and not self.members[key].cut else",
        "that somebody leaves who may not read the group any more is said by a neighbour",
        "tests/proxy/test_real_acls.py::test_what_it_had_who_may_not_read_the_group_any_more_is_soon_its_neighbours",
    ),
    hosted(
        "describing.py",
        'CLASSIC_STATES = {"Assigning": "PreparingRebalance", "Reconciling": "CompletingRebalance"}',
        "CLASSIC_STATES: dict[str, str] = {}",
        "old tools are told a state in the words of a classic group",
        f"{ON_THE_WAY}::test_a_group_that_moves_is_called_by_the_classic_name_and_found_by_it",
    ),
    hosted(
        "describing.py",
        "    body.states_filter = [*body.states_filter, *native_states]\n",
        "",
        "who looks for groups in a classic state finds native ones",
        f"{ON_THE_WAY}::test_a_group_that_moves_is_called_by_the_classic_name_and_found_by_it",
    ),
    hosted(
        "describing.py",
        "line.versions, request.body.include_authorized_operations)",
        "line.versions)",
        "what an old tool may do with a group is asked for too",
        f"{ON_THE_WAY}::test_a_group_that_moves_is_called_by_the_classic_name_and_found_by_it",
    ),
    hosted(
        "native.py",
        "        rack_id=heartbeat.rack_id,\n",
        "",
        "the coordinator hears of a client's rack",
        f"{ON_THE_WAY}::test_a_rack_is_told_to_the_coordinator",
    ),
    hosted(
        "together.py",
        "return frame if interval_ms == answer.heartbeat_interval_ms else passed.paced(interval_ms)",
        "return frame",
        "native members that pass are paced",
        f"{ON_THE_WAY}::test_a_native_member_that_passes_is_told_to_beat_often_while_its_group_moves",
    ),
    hosted(
        "together.py",
        "contract=member.contract, interval_ms=member.interval_ms)",
        "contract=member.contract)",
        "how often members are to beat is known of those here",
        "tests/proxy/test_real_group_settings.py::"
        "test_who_is_to_beat_less_often_than_before_is_given_to_just_before_it_does",
    ),
    hosted(
        "together.py",
        "if group is None or due_at <= now:",
        "if True:",
        "and put off in the grace after a leave",
        f"{ON_THE_WAY}::test_a_native_member_that_passes_does_not_beat_in_the_grace_after_a_leave",
    ),
    hosted(
        "holding.py",
        "            self._host.feed(key, ev.HoldInterrupted(request=line.number))\n",
        "            pass\n",
        "what comes behind a held Heartbeat does not wait for it",
        f"{ON_THE_WAY}::test_what_comes_behind_a_held_heartbeat_is_answered_at_once",
    ),
    hosted(
        "holding.py",
        "            if conversation.requests > requests and not conversation.ahead.is_seen:",
        "            if False:",
        "a client that waits for each answer is held no more",
        f"{ON_THE_WAY}::test_who_sends_nothing_while_its_heartbeat_is_held_is_soon_held_no_more",
    ),
    hosted(
        "holding.py",
        "return is_busy or line",
        "return line",
        "where much is asked between two heartbeats these are answered at once",
        f"{REQUESTS}::test_where_much_is_asked_between_two_heartbeats_these_are_answered_at_once",
    ),
    hosted(
        "commits.py",
        "return request.answered(answer) if stale else frame",
        "return frame",
        "a commit of nobody knows who hears no word of native members",
        f"{ON_THE_WAY}::test_a_commit_of_nobody_knows_who_hears_no_word_that_only_native_members_know",
    ),
    hosted(
        "recognising.py",
        f"{NATIVES_ONLY}(self._requests.request_of(number))",
        "return False",
        "a native member that commits is not adopted",
        f"{ON_THE_WAY}::test_a_native_member_whose_first_word_to_a_proxy_is_a_commit_is_not_taken_over",
    ),
    hosted(
        "recognising.py",
        "            self._ask_classic(number, key)",
        "            self._requests.speak(number, key)",
        "a member of a classic group stays one until it begins anew",
        "tests/proxy/test_real_adoption.py::test_a_member_of_a_classic_group_stays_one_until_it_begins_anew",
    ),
    hosted(
        "host.py",
        "        if before is not None:\n            before.release(key)\n",
        "",
        "a connection that no member needs any more ends",
        f"{REQUESTS}::test_a_connection_that_outlived_its_client_ends_when_the_client_speaks_on_another",
    ),
    hosted(
        "host.py",
        "return key in self.members or key in self.journal.entries",
        "return key in self.members",
        "whose first word after a restart fetches offsets has the journal speak for it",
        "tests/proxy/test_fetching.py::test_so_it_does_with_its_first_word_after_a_restart_of_the_proxy",
    ),
    hosted(
        "requests.py",
        'return found[0] if len(found) == 1 else ""',
        'return ""',
        "who rejoins under an instance id of no letters alone is the member that it was",
        f"{REQUESTS}::test_who_rejoins_under_an_instance_id_of_no_letters_alone_is_the_member_that_it_was",
    ),
    *PROCESSES,
    *VOLLEYS,
)


def main(*words: str) -> int:
    chosen = [each for each in HOSTING if not words or any(word in each.breaks for word in words)]
    outcomes = [outcome(mutant) for mutant in chosen]
    print(table(outcomes))
    bad = [each for each in outcomes if not each.so_it_should_be]
    print(f"\n{len(outcomes)} breakages, {len(bad)} not noticed")
    return bool(bad)


def outcome(mutant: Mutant) -> Outcome:
    began = time.perf_counter()
    with TemporaryDirectory(prefix="mutants-") as directory:
        broken = Path(directory)
        for name in COPIED:
            shutil.copytree(TREE / name, broken / name)
        for name in SHARED:
            (broken / name).symlink_to(TREE / name)
        try:
            mutant.applied_to(broken)
        except Outdated as outdated:
            return Outcome(mutant, f"OUTDATED, {outdated}", 0, False)
        path = os.pathsep.join((str(broken), str(TREE)))
        done = subprocess.run(
            [*PYTEST, mutant.noticed_by],
            cwd=broken,
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
    seconds = time.perf_counter() - began
    if done.returncode == RED:
        return Outcome(mutant, first_failure(done.stdout), seconds, True)
    what = "NOTHING" if done.returncode == GREEN else f"DOES NOT RUN\n{done.stdout}{done.stderr}"
    return Outcome(mutant, what, seconds, False)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
