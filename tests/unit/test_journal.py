"""What clients were told survives the process, whatever byte it ended at."""

from __future__ import annotations

import contextlib
import io
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.groups.journal import CannotJournal, Journal, is_claimed
from proxy.logs import Log
from translation.events import JournalEntry
from translation.group_heartbeat import TopicPartition


def quiet() -> Log:
    return Log(out=io.StringIO())


def entry(member: str = "m", generation: int = 1, partitions: int = 2) -> JournalEntry:
    return JournalEntry(
        group_id="g",
        member_id=member,
        instance_id=None,
        generation=generation,
        told=tuple(TopicPartition("a" * 32, number) for number in range(partitions)),
        protocol_name="range",
        subscription_version=1,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
    )


def test_what_was_remembered_last_is_there_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "new" / "journal", quiet())
    journal.remember(entry("m", 1))
    journal.remember(entry("m", 2))
    journal.remember(entry("n", 1))
    journal.forget(("g", "n"))
    journal.close()
    again = Journal(tmp_path / "new" / "journal", quiet())
    assert again.entries == {("g", "m"): entry("m", 2)}


def test_of_a_group_that_is_another_process_now_nothing_is_remembered(tmp_path: Path) -> None:
    """It would have members leave that are spoken for elsewhere."""
    journal = Journal(tmp_path / "journal", quiet())
    journal.remember(entry("m"))
    journal.close()
    journal = Journal(tmp_path / "journal", quiet(), is_ours=lambda group_id: group_id != "g")
    assert journal.entries == {}
    journal.close()
    assert b'"m"' not in (tmp_path / "journal").read_bytes()


def test_of_which_brokers_clients_were_told_is_known_until_they_are_told_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, quiet())
    journal.remember(entry("m"))
    for nodes in ({3}, {3, 1}, {1, 3}):
        journal.tells_of(nodes)
    assert path.read_bytes().count(b"nodes") == 2, "the same again is not written"
    for told in ((1, 3), (1, 3)):
        journal.close()
        journal = Journal(path, quiet())
        assert (journal.nodes, set(journal.entries)) == (told, {("g", "m")})
    journal.tells_of({2})
    journal.close()
    assert Journal(path, quiet()).nodes == (2,)


def test_a_journal_cut_at_any_byte_loses_no_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, quiet())
    for generation in range(1, 3):
        journal.remember(entry("m", generation))
    whole = path.read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in [*range(0, len(whole), 7), *ends, *(end + 1 for end in ends)]:
        path.write_bytes(whole[:cut])
        journal.close()
        journal = Journal(path, quiet())
        # The last line may be whole without its end.
        lines = sum(end <= cut for end in ends)
        found = journal.entries.get(("g", "m"))
        assert (found.generation if found else 0) == lines
        journal.remember(entry("after", 9))
        journal.close()
        journal = Journal(path, quiet())
        assert ("g", "after") in journal.entries


@pytest.mark.parametrize("line", [b"\x00not json", b'{"group":"\xff","member":"m"}'])
def test_an_unreadable_line_is_named_and_the_others_stay(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, quiet())
    journal.remember(entry("m"))
    journal.close()
    path.write_bytes(line + b"\n" + path.read_bytes())
    out = io.StringIO()
    assert ("g", "m") in Journal(path, Log(out=out)).entries
    assert "line=1" in out.getvalue()


def test_the_past_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, quiet())
    for generation in range(3_000):
        journal.remember(entry("m", generation))
    assert path.read_bytes().count(b"\n") < 1_500
    journal.close()
    assert Journal(path, quiet()).entries == {("g", "m"): entry("m", 2_999)}


def test_the_same_again_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, quiet())
    for _ in range(5):
        journal.remember(entry("m"))
    assert path.read_bytes().count(b"\n") == 1


@contextlib.contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """There is room for the beginning of a line, and for no second file of this size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 50, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_a_full_disk_took_in_part_or_not_at_all_is_written_once_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    out = io.StringIO()
    journal = Journal(path, Log(out=out))
    journal.remember(entry("m", 1))
    journal.remember(entry("l", 1))
    with full_disk(path):
        journal.remember(entry("m", 2))
        journal.forget(("g", "l"))
        # Came and went meanwhile.
        journal.remember(entry("n", 1))
        journal.forget(("g", "n"))
        journal.remember(entry("o", 1))
        journal.catch_up()
        assert journal.is_behind
    torn = path.read_bytes()
    assert torn.count(b"\n") == 2
    # Not at every change: each would try to write all that is missing.
    journal.remember(entry("p", 1))
    assert path.read_bytes() == torn
    journal.catch_up()
    assert not journal.is_behind
    assert path.read_bytes().count(b"\n") == 6
    expected = {("g", "m"): entry("m", 2), ("g", "o"): entry("o", 1), ("g", "p"): entry("p", 1)}
    journal.close()
    assert Journal(path, quiet()).entries == expected
    said = [line.partition(" ")[2] for line in out.getvalue().splitlines()]
    assert said == [
        f'error the journal cannot be written path={path} reason="File too large"',
        f"info the journal is written again path={path} entries=4",
    ]


def test_what_is_missing_is_appended_before_the_end_if_there_is_room_by_then(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, quiet())
    journal.remember(entry("m", 1))
    with full_disk(path):
        journal.remember(entry("m", 2))
    journal.close()
    assert Journal(path, quiet()).entries == {("g", "m"): entry("m", 2)}


def test_with_no_room_for_a_second_file_the_first_is_written_on(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    out = io.StringIO()
    journal = Journal(path, Log(out=out))
    in_the_way = tmp_path / "journal.new"
    in_the_way.mkdir()
    for generation in range(3_000):
        journal.remember(entry("m", generation))
    assert not journal.is_behind
    assert path.read_bytes().count(b"\n") == 3_000
    # Tried again when there are twice as many lines, not each time.
    assert out.getvalue().count("the journal cannot be written anew") == 2
    in_the_way.rmdir()
    for generation in range(3_000, 6_000):
        journal.remember(entry("m", generation))
    assert path.read_bytes().count(b"\n") < 3_000
    journal.close()
    assert Journal(path, quiet()).entries == {("g", "m"): entry("m", 5_999)}


def fill(path: Path) -> None:
    """There is room for no second file; how much there is for the first, `full_disk` says."""
    path.with_name(path.name + ".new").symlink_to("/dev/full")


@pytest.mark.parametrize("torn", [b"", b'{"group":"g","memb', bytes(9)])
def test_a_start_with_no_room_for_a_second_file_goes_on_with_the_first(tmp_path: Path, torn: bytes) -> None:
    """As the proxy did that ended there."""
    path = tmp_path / "journal"
    out = io.StringIO()
    journal = Journal(path, quiet())
    for generation in range(3):
        journal.remember(entry("m", generation))
    journal.close()
    path.write_bytes(path.read_bytes() + torn)
    fill(path)
    journal = Journal(path, Log(out=out))
    assert (journal.is_behind, path.read_bytes().count(b"\n")) == (False, 3)
    assert f'the journal cannot be written anew path={path} reason="No space left on device"' in out.getvalue()
    journal.remember(entry("n", 1))
    assert path.read_bytes().count(b"\n") == 4
    # What is past is counted from the start: it is cut off as soon as there is room.
    for generation in range(3_000):
        journal.remember(entry("m", generation))
    assert path.read_bytes().count(b"\n") < 3_000
    journal.close()
    assert Journal(path, quiet()).entries == {("g", "m"): entry("m", 2_999), ("g", "n"): entry("n", 1)}


def test_a_last_line_without_its_end_is_whole_by_then(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, quiet())
    journal.remember(entry("m", 1))
    journal.remember(entry("m", 2))
    journal.close()
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    fill(path)
    journal = Journal(path, quiet())
    assert path.read_bytes().count(b"\n") == 2
    journal.close()
    assert Journal(path, quiet()).entries == {("g", "m"): entry("m", 2)}


def test_with_room_for_nothing_it_starts_behind(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    out = io.StringIO()
    journal = Journal(path, quiet())
    journal.remember(entry("m", 1))
    journal.remember(entry("m", 2))
    journal.close()
    last = path.read_bytes()
    path.write_bytes(last.removesuffix(b"\n"))
    fill(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(last) - 1, hard))
    try:
        journal = Journal(path, Log(out=out))
        assert journal.is_behind
        assert f'error the journal cannot be written path={path} reason="File too large"' in out.getvalue()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    journal.catch_up()
    assert (journal.is_behind, path.read_bytes()) == (False, last)
    assert f"info the journal is written again path={path} entries=1" in out.getvalue()


def test_a_place_that_cannot_be_written_is_named_with_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotJournal, match=r"cannot write the journal .*/file/journal \(`journal`\)"):
        Journal(tmp_path / "file" / "journal", quiet())


def test_what_becomes_of_members_after_its_end_is_not_written_and_nobody_is_alarmed(tmp_path: Path) -> None:
    """The last traces may take seconds, and a session end meanwhile: that the next process finds out."""
    out = io.StringIO()
    journal = Journal(tmp_path / "journal", Log(out=out))
    journal.remember(entry("m"))
    journal.close()
    journal.forget(("g", "m"))
    journal.catch_up()
    assert (out.getvalue(), journal.is_behind) == ("", False)
    assert Journal(tmp_path / "journal", quiet()).entries == {("g", "m"): entry("m")}


def test_a_journal_in_use_is_nobody_elses_and_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, quiet())
    # It has been replaced since it was claimed.
    for generation in range(2_000):
        journal.remember(entry("m", generation))
    with pytest.raises(CannotJournal, match=r"another proxy .* writes the journal .*/journal \(`journal`\)"):
        Journal(path, quiet())
    journal.remember(entry("m", 2_000))
    journal.close()
    assert Journal(path, quiet()).entries == {("g", "m"): entry("m", 2_000)}


def test_a_link_to_a_journal_stays_one_and_the_journal_is_the_file_behind_it(tmp_path: Path) -> None:
    """As where the settings name a file on a volume: the link became a file, and the volume's journal stayed old."""
    journals, links = tmp_path / "volume" / "journal", [tmp_path / "one", tmp_path / "other"]
    for link in links:
        link.symlink_to(journals)
    journal = Journal(links[0], quiet())
    journal.remember(entry("m"))
    assert all(link.is_symlink() for link in links)
    assert is_claimed(links[1])
    for path in (links[1], journals):
        with pytest.raises(CannotJournal, match=r"another proxy .* writes the journal .*/volume/journal \(`journal`\)"):
            Journal(path, quiet())
    journal.close()
    assert not is_claimed(links[1])
    assert Journal(journals, quiet()).entries == {("g", "m"): entry("m")}
    assert {*os.listdir(tmp_path)} == {"volume", "one", "other"}


def test_zeros_that_a_dying_machine_left_are_written_over(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(bytes(100))
    Journal(path, quiet()).remember(entry())
    assert path.read_bytes().startswith(b'{"group":"g"')


@pytest.mark.parametrize("text", [b"hello\n", b"hello", b"\x00\x01", b'{"groups": []}\n'])
def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "notes"
    path.write_bytes(text)
    with pytest.raises(CannotJournal, match=r"/notes \(`journal`\) is no journal"):
        Journal(path, quiet())
    assert path.read_bytes() == text
    path.unlink()
    Journal(path, quiet()).remember(entry())
