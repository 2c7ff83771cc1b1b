"""The settings' own promises, before any file is read."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from proxy.settings import Settings
from proxy.settings_reference import reference


def test_only_the_upstream_must_be_given() -> None:
    settings = msgspec.convert({"upstream": ["kafka:9092"]}, Settings)
    assert settings.listen == "127.0.0.1:9092"
    assert settings.limits.max_request_bytes == 100 * 1024 * 1024


def test_a_setting_out_of_bounds_is_refused_with_its_path() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.limits\.idle_timeout_ms"):
        msgspec.convert({"upstream": ["kafka:9092"], "limits": {"idle_timeout_ms": 0}}, Settings)


def test_the_settings_reference_is_the_one_that_the_structs_print() -> None:
    document = Path(__file__).parents[2] / "docs/settings.md"
    assert document.read_text() == reference(), "run `make docs`"


def test_the_reference_says_what_a_setting_may_be() -> None:
    may_be = {
        row.split(" | ")[0][3:-1]: row.split(" | ")[2] for row in reference().splitlines() if row.startswith("| `")
    }
    assert may_be["translation.park_ms"] == "0 to 20000"
    assert may_be["translation.hold_heartbeats"] == "0 to 0.95"
    assert may_be["ports"] == may_be["sni.advertised_port"] == "1 to 65535"
    assert may_be["limits.idle_timeout_ms"] == "1 to 2147483647"
    assert may_be["limits.max_connections"] == "1 or more"
    assert may_be["log.level"] == "`debug`, `info`, `warning`, `error`"
    assert may_be["groups.assignor"] == "not empty"
    assert may_be["listen"] == ""


def test_every_setting_says_what_it_means() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| `")]
    assert len(rows) > 25
    assert [row for row in rows if row.endswith("|  |")] == []
