"""The columns are the record's, whatever the record is."""

from __future__ import annotations

import msgspec
import pytest

from pipeline import schema
from translation.states import Phase
from translation.transition import Transition


def test_every_field_of_the_record_is_a_column() -> None:
    assert list(schema.RECORD) == [field.name for field in msgspec.structs.fields(Transition)]
    assert schema.RECORD["owned"] == "array<string>"
    assert schema.RECORD["request"] == schema.RECORD["epoch"] == "bigint"
    assert schema.RECORD["instance_id"] == schema.RECORD["phase"] == "string"


def test_what_may_be_missing_is_what_may_be_none_or_empty() -> None:
    assert {"group_id", "member_id", "at", "phase", "epoch"} <= set(schema.REQUIRED)
    assert not {"instance_id", "request", "reason", "owned"} & set(schema.REQUIRED)


def test_a_phase_is_one_of_the_tables() -> None:
    assert schema.ENUMS["phase"] == {each.value for each in Phase}


def test_a_field_of_an_unknown_kind_has_no_column() -> None:
    with pytest.raises(TypeError, match="no column"):
        schema.sql_type(dict[str, int])
