"""What is a name, and what a pattern? Spark takes every path that it reads for a pattern, where brackets and stars mean
something else, and tells of files as URLs.

What is there is meant, whatever its name; only what follows is a pattern: `/data/run[1]/*.json`, say.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

MEANS_MORE = re.compile(r"[][{}*?\\]")
HERE = "^file:(//)?"
# As `of_url`, in SQL, of the file of each row. In forms, of which it thinks, a plus is a space.
ORIGIN = f"regexp_replace(url_decode(replace(_metadata.file_path, '+', '%2B')), '{HERE}', '') AS origin"


def by_name(path: str) -> str:
    """For Spark to read: this, and nothing that is like it."""
    return MEANS_MORE.sub(r"\\\g<0>", path)


def for_spark(source: str) -> str:
    """What lies elsewhere cannot be looked at, and is taken as it is given."""
    return source if "://" in source else _as_meant(source, by_name)


def for_python(source: str) -> str:
    return _as_meant(source, glob.escape)


def _as_meant(source: str, escaped: Callable[[str], str]) -> str:
    path = Path(source)
    there = next(each for each in (path, *path.parents) if os.path.exists(each))
    return str(Path(escaped(str(there)), path.relative_to(there)))


def of_url(url: str) -> str:
    return re.sub(HERE, "", unquote(url))
