"""Campaigns: `python -m simulation --seeds 1000 [--from 0] [--jobs 2]`, or one seed again: `--seed 17`.

Prints what was drawn first, then what came of it. A failing seed is played again, cut down, and printed as a story.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from multiprocessing import Pool

from simulation.plans import as_story, draw
from simulation.playing import failure, shrink

CHUNK = 10
SHOWN = 5


def main() -> int:
    asked = _arguments().parse_args()
    if asked.seed is not None:
        return _one(asked.seed, asked.whole)
    return _many(range(asked.first, asked.first + asked.seeds), asked.jobs)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, help="only this one, with its story")
    parser.add_argument("--whole", action="store_true", help="do not cut the story down")
    return parser


def _one(seed: int, whole: bool) -> int:
    plan = draw(seed)
    print(plan, flush=True)
    found = failure(plan)
    if found is None:
        print("holds")
        return 0
    print(f"{found[1]}\n\n{as_story(plan if whole else shrink(plan, found[0]))}")
    return 1


def _many(seeds: range, jobs: int) -> int:
    print(f"seeds {seeds.start} to {seeds.stop - 1}, {jobs} at a time", flush=True)
    began, failed = time.perf_counter(), []
    with Pool(jobs) as pool:
        for seed, found in pool.imap_unordered(_played, seeds, chunksize=CHUNK):
            if found is not None:
                failed.append((seed, found))
                if len(failed) <= SHOWN:
                    print(f"{draw(seed)}\n    {found[1]}", flush=True)
    kinds = Counter(found[0] for _, found in failed)
    print(f"{len(seeds)} runs in {time.perf_counter() - began:.1f} s, {len(failed)} failed {dict(kinds)}")
    for kind in kinds:
        of_kind = sorted(seed for seed, found in failed if found[0] == kind)
        print(f"    {kind}: {of_kind[:20]}; again: python -m simulation --seed {of_kind[0]}")
    return bool(failed)


def _played(seed: int) -> tuple[int, tuple[str, str] | None]:
    return seed, failure(draw(seed))


if __name__ == "__main__":
    raise SystemExit(main())
