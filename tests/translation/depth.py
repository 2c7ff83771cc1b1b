"""How far Hypothesis goes: `DEPTH=100 .venv/bin/pytest tests/translation/test_any_order.py` goes a hundred times as far.

At depth 1 the same examples are tried every time, so a build says twice the same; deeper, they are new ones every time.
"""

from __future__ import annotations

import os

from hypothesis import settings

DEPTH = int(os.environ.get("DEPTH", "1"))


def far(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples * DEPTH,
        stateful_step_count=steps,
        derandomize=DEPTH == 1,
        database=None,
    )
