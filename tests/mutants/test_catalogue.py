"""The catalogues keep up with the code. (That each breakage is noticed is shown by `python -m tests.mutants` and
`python -m tests.mutants.hosting`.)"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.mutants.catalogue import CATALOGUE
from tests.mutants.hosting import HOSTING
from tests.mutants.mutant import Mutant, Outdated

TREE = Path(__file__).parents[2]


@pytest.mark.parametrize("mutant", [*CATALOGUE, *HOSTING], ids=lambda mutant: mutant.breaks)
def test_each_breakage_still_finds_its_place_and_is_python(mutant: Mutant) -> None:
    compile(mutant.of((TREE / mutant.package / mutant.file).read_text()), mutant.file, "exec")


@pytest.mark.parametrize("noticed_by", sorted({mutant.noticed_by for mutant in HOSTING}))
def test_the_test_that_must_notice_is_there(noticed_by: str) -> None:
    file, _, name = noticed_by.partition("::")
    assert re.search(rf"^(async )?def {name}\(", (TREE / file).read_text(), re.MULTILINE)


def test_there_is_one_per_rule() -> None:
    assert len(CATALOGUE) == len({mutant.breaks for mutant in CATALOGUE}) >= 25


def test_a_text_that_is_not_there_or_twice_is_an_error() -> None:
    mutant = Mutant("x.py", "a", "b", "nothing")
    for source in ("", "aa"):
        with pytest.raises(Outdated):
            mutant.of(source)
