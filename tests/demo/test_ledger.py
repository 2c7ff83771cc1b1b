"""What the demo's summary and picture say follows from what its programs said."""

from __future__ import annotations

from xml.etree import ElementTree

from demo.ledger import Ledger, Step
from demo.picture import timeline
from demo.screen import summary


def ledger(*events: tuple[str, str, float, object], partitions: int = 2) -> Ledger:
    """Members alice and bob; events are (who, what, when in ms, partitions or records)."""
    made = Ledger(partitions)
    made.has_formed = True
    made.enters("alice", "kafka-python", "classic")
    made.enters("bob", "confluent-kafka", "consumer")
    for who, what, at_ms, about in events:
        made.heard(who, {"event": what, "at_ms": at_ms, "partitions": about, "records": about, "message": about})
    return made


def test_a_record_written_and_not_read_is_lost() -> None:
    seen = ledger(("producer", "produced", 0, [[0, 0], [0, 1]]), ("alice", "consumed", 1, [[0, 1]]))
    assert seen.lost == {(0, 0)}


def test_a_record_may_be_read_before_its_writer_hears_of_it() -> None:
    seen = ledger(("alice", "consumed", 1, [[0, 0]]), ("producer", "produced", 2, [[0, 0]]))
    assert (seen.lost, seen.doubled) == (set(), 0)


def test_each_further_reading_is_a_double() -> None:
    seen = ledger(
        ("alice", "consumed", 1, [[0, 0]]), ("bob", "consumed", 2, [[0, 0]]), ("bob", "consumed", 3, [[0, 0]])
    )
    assert seen.doubled == 2


def test_the_group_is_settled_when_all_is_owned_once_and_nobody_is_idle() -> None:
    assert not ledger(("alice", "assigned", 0, [0, 1])).is_settled
    assert not ledger(("alice", "assigned", 0, [0]), ("bob", "assigned", 0, [0])).is_settled
    assert ledger(("alice", "assigned", 0, [0]), ("bob", "assigned", 0, [1])).is_settled


def test_who_has_left_need_own_nothing() -> None:
    events = [("alice", "leaving", 1, None), ("alice", "closed", 2, None), ("bob", "assigned", 3, [0, 1])]
    assert ledger(*events).is_settled


def test_partitions_taken_before_leaving_are_a_disturbance_and_after_it_are_not() -> None:
    seen = ledger(
        ("alice", "assigned", 0, [0, 1]),
        ("alice", "revoked", 1, [1]),
        ("alice", "leaving", 2, None),
        ("alice", "revoked", 3, [0]),
    )
    assert (seen.members["alice"].disturbances, seen.members["alice"].partitions_taken) == (1, 1)


def test_what_moves_while_the_group_forms_disturbs_nobody() -> None:
    seen = Ledger(2)
    seen.enters("alice", "kafka-python", "classic")
    seen.heard("alice", {"event": "assigned", "at_ms": 0, "partitions": [0, 1]})
    seen.heard("alice", {"event": "revoked", "at_ms": 1, "partitions": [1]})
    assert (seen.members["alice"].disturbances, seen.members["alice"].owned) == (0, {0})


def test_an_empty_revocation_disturbs_nobody() -> None:
    assert ledger(("alice", "revoked", 1, [])).members["alice"].disturbances == 0


def test_silence_is_the_longest_time_between_records() -> None:
    seen = ledger(*(("alice", "consumed", at_ms, [[0, int(at_ms)]]) for at_ms in (10, 30, 130, 150)))
    assert seen.members["alice"].longest_silence_ms == 100


def test_a_partition_held_by_two_at_once_is_counted() -> None:
    overlapping = ledger(("alice", "assigned", 0, [0]), ("bob", "assigned", 5, [0]), ("alice", "revoked", 6, [0]))
    handed_over = ledger(("alice", "assigned", 0, [0]), ("alice", "revoked", 5, [0]), ("bob", "assigned", 6, [0]))
    assert (overlapping.held_twice(), handed_over.held_twice()) == (1, 0)


def test_who_ends_holds_nothing_any_more() -> None:
    seen = ledger(("alice", "assigned", 0, [0, 1]), ("alice", "closed", 7, None))
    assert [span.until_ms for span in seen.spans] == [7, 7]


def test_the_picture_has_a_bar_for_every_time_a_partition_was_held() -> None:
    seen = ledger(("alice", "assigned", 0, [0, 1]), ("alice", "revoked", 500, [1]), ("bob", "assigned", 600, [1]))
    seen.steps.append(Step(550, "<bob> & others"))
    drawn = ElementTree.fromstring(timeline(seen))
    space = "{http://www.w3.org/2000/svg}"
    titles = [rect.findtext(f"{space}title") for rect in drawn.iter(f"{space}rect")]
    assert [title for title in titles if title] == [
        "alice holds 0 from 0.0 s",
        "alice holds 1 from 0.0 s",
        "bob holds 1 from 0.6 s",
    ]


def test_the_picture_of_nothing_is_a_picture() -> None:
    ElementTree.fromstring(timeline(Ledger(0)))


def test_the_summary_names_every_member_and_counts() -> None:
    seen = ledger(("producer", "produced", 0, [[0, 0], [0, 1]]), ("bob", "consumed", 1, [[0, 1]]))
    told = summary(seen)
    assert "lost            1" in told
    assert "alice    kafka-python     classic" in told
    assert "bob      confluent-kafka  native" in told
