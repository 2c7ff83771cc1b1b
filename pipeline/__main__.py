"""`python -m pipeline`: also what spark-submit is given."""

from pipeline.cli import main

raise SystemExit(main())
