"""What docs/differences.md says is what brokers and the proxy answer, today."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kafka import Cluster
from tests.proxy.differences import ALIKE, DIFFERENT, Answers, all_answers, page

pytestmark = pytest.mark.broker

PAGE = Path(__file__).parents[2] / "docs/differences.md"


@pytest.fixture(scope="module")
def new(kafka: Cluster) -> list[Answers]:
    return all_answers(kafka)


def test_the_page_is_what_was_answered(kafka: Cluster, kafka40: Cluster, new: list[Answers]) -> None:
    """To print it: python -m tests.proxy.differences > docs/differences.md"""
    assert PAGE.read_text() == page(kafka40.version, kafka.version, all_answers(kafka40), new)


def test_refusals_are_the_same_word_for_word(new: list[Answers]) -> None:
    answered = {question.asked: told for question, told in zip(ALIKE, new[len(DIFFERENT) :], strict=True)}
    assert {asked: told.proxy for asked, told in answered.items()} == {
        asked: told.direct for asked, told in answered.items()
    }
