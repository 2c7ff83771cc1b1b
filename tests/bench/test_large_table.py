"""What docs/benchmarks.md says of large groups is what was measured."""

from __future__ import annotations

import msgspec

from bench.large.run import Figures, markdown


def figures(seconds: float, proxy_cpu: float = 0.0) -> Figures:
    return Figures(seconds, idle=12.4, twice=0.0, rejoins=1_613, requests=5_859, broker_cpu=2.84, proxy_cpu=proxy_cpu)


def test_layouts_stand_side_by_side_with_their_medians() -> None:
    table = markdown(
        {
            (50, "all start", "direct"): [figures(8.0), figures(7.0), figures(100.0)],
            (50, "it leaves", "direct"): [figures(4.9)],
            (50, "all start", "proxy"): [figures(5.0, 1.26)],
            (50, "it leaves", "proxy"): [figures(0.7, 0.3)],
        }
    )
    assert table.splitlines()[2:] == [
        "| 50 | all start | direct | 8.0 | 12 | 0 | 1,613 | 5,859 | 2.8 | – |",
        "| 50 | all start | proxy | 5.0 | 12 | 0 | 1,613 | 5,859 | 2.8 | 1.3 |",
        "| 50 | it leaves | direct | 4.9 | 12 | 0 | 1,613 | 5,859 | 2.8 | – |",
        "| 50 | it leaves | proxy | 0.7 | 12 | 0 | 1,613 | 5,859 | 2.8 | 0.3 |",
    ]


def test_of_what_two_had_at_once_the_worst_is_said() -> None:
    twice = msgspec.structs.replace(figures(1.0), twice=0.05)
    table = markdown({(50, "one comes", "proxy"): [figures(1.0), twice, figures(1.0)]})
    assert "| 12 | 0.05 | 1,613 |" in table
