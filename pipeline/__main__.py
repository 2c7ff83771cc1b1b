"""`kip848-pipeline` and `python -m pipeline`: also what spark-submit is given."""

from __future__ import annotations

import sys

CANNOT = 2


def main() -> int:
    try:
        # Only here: what it needs is an extra.
        from pipeline import cli
    except ModuleNotFoundError as missing:
        print(f"kip848-pipeline: {missing.name} is missing: pip install 'kip848-proxy[pipeline]'", file=sys.stderr)
        return CANNOT
    return cli.main()


if __name__ == "__main__":
    raise SystemExit(main())
