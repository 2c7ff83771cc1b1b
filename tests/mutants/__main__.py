"""Break the translation, one small breakage at a time, and see the tests notice: `python -m tests.mutants [WORD ...]`.

Each breakage is made in a temporary copy of the tree; there the playbooks and the stories are run, up to the first that
fails. Prints a table of what noticed what. Fails if nothing did, or if the catalogue has fallen behind the code. With
words: only those breakages whose description has one of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.mutants.catalogue import CATALOGUE
from tests.mutants.mutant import Mutant, Outdated

TREE = Path(__file__).parents[2]
# tests/conftest.py starts brokers: nobody needs one here.
COPIED = ("translation", "simulation", "tests/__init__.py", "tests/translation", "tests/simulation", "docs/protocol.md")
TESTS = ("tests/translation", "tests/simulation/stories")
# A breakage may well make a loop without end: then the test that meets it fails after so long.
PATIENCE_S = 20
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-rf", "--tb=no", "-p", "no:cacheprovider")
TIMEOUT = ("-p", "pytest_timeout", f"--timeout={PATIENCE_S}")
# Plugins that nobody needs here are half of the time that pytest takes to begin.
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
INI = "[pytest]\nfilterwarnings = error\n"
GREEN, RED = 0, 1


class Outcome(NamedTuple):
    mutant: Mutant
    noticed_by: str
    seconds: float
    so_it_should_be: bool


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    chosen = [each for each in CATALOGUE if not asked.words or any(word in each.breaks for word in asked.words)]
    with TemporaryDirectory(prefix="mutants-") as directory:
        whole = Path(directory) / "whole"
        copy_to(whole)
        return report(whole, chosen, asked.jobs)


def report(whole: Path, chosen: list[Mutant], jobs: int) -> int:
    began = time.perf_counter()
    code, output = tested(whole)
    if code != GREEN:
        print(f"the tests are red as it is\n{output}")
        return 1
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(lambda mutant: outcome(whole, mutant), chosen))
    print(table(outcomes))
    bad = [each for each in outcomes if not each.so_it_should_be]
    print(f"\n{len(outcomes)} breakages, {len(bad)} not noticed, {time.perf_counter() - began:.0f} s")
    return bool(bad)


def outcome(whole: Path, mutant: Mutant) -> Outcome:
    began = time.perf_counter()
    with TemporaryDirectory(prefix="broken-", dir=whole.parent) as directory:
        broken = Path(directory)
        shutil.copytree(whole, broken, dirs_exist_ok=True)
        try:
            mutant.applied_to(broken)
        except Outdated as outdated:
            return Outcome(mutant, f"OUTDATED, {outdated}", 0, False)
        code, output = tested(broken)
    seconds = time.perf_counter() - began
    if code == RED:
        return Outcome(mutant, first_failure(output), seconds, True)
    return Outcome(mutant, "NOTHING" if code == GREEN else f"DOES NOT RUN\n{output}", seconds, False)


def tested(tree: Path) -> tuple[int, str]:
    """The stories are told only if the playbooks have noticed nothing."""
    code, output = GREEN, ""
    for part in TESTS:
        if code == GREEN:
            code, output = run(tree, part)
    return code, output


def run(tree: Path, part: str) -> tuple[int, str]:
    command = [*PYTEST, *TIMEOUT, part]
    done = subprocess.run(command, cwd=tree, env=os.environ | BARE, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def copy_to(tree: Path) -> None:
    for name in COPIED:
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (TREE / name).is_dir():
            shutil.copytree(TREE / name, target, ignore=shutil.ignore_patterns("real"))
        else:
            shutil.copy2(TREE / name, target)
    (tree / "pytest.ini").write_text(INI)


def first_failure(output: str) -> str:
    """`FAILED tests/…/test_x.py::test_y - why` -> `test_x.py::test_y`."""
    failed = next((line for line in output.splitlines() if line.startswith("FAILED ")), "FAILED ?")
    return failed.removeprefix("FAILED ").split(" - ")[0].rsplit("/", 1)[-1]


def table(outcomes: list[Outcome]) -> str:
    head = ["| broken rule | in | noticed by | s |", "|---|---|---|---|"]
    rows = [
        f"| {each.mutant.breaks} | {each.mutant.file} | {each.noticed_by} | {each.seconds:.1f} |" for each in outcomes
    ]
    return "\n".join(head + rows)


if __name__ == "__main__":
    raise SystemExit(main())
