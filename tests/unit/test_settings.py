"""The settings' own promises, before any file is read."""

from __future__ import annotations

import msgspec
import pytest

from proxy.settings import Settings


def test_only_the_upstream_must_be_given() -> None:
    settings = msgspec.convert({"upstream": ["kafka:9092"]}, Settings)
    assert settings.listen == "127.0.0.1:9092"
    assert settings.limits.max_request_bytes == 100 * 1024 * 1024


def test_a_setting_out_of_bounds_is_refused_with_its_path() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.limits\.idle_timeout_ms"):
        msgspec.convert({"upstream": ["kafka:9092"], "limits": {"idle_timeout_ms": 0}}, Settings)
