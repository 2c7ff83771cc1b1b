"""What a client complains of in its log, less what tells one run from another.

Each make has its own form. Java and librdkafka say how bad it is; what Python and Go programs write to stderr by default is
bad enough. The programs' own `error` events are complaints as well: the library threw something.
"""

from __future__ import annotations

import re

from tests.clients import Client

JAVA_LINE = re.compile(r"^\[[^]]+\] (?P<level>[A-Z]+) (?P<rest>.*)")
LIBRDKAFKA_LINE = re.compile(r"^%(?P<level>\d)\|[^|]*\|(?P<rest>.*)")
LIBRDKAFKA_WARNING = 4
# Names of topics, groups and members, addresses, numbers; and what is to be committed, before it says why it is not.
OF_THIS_RUN = re.compile(
    r"matrix-[\w.-]+|[0-9a-f]{8}-[0-9a-f-]{27}|\b(?:alice|bob|carol|dave|after)\b(?:-\w+)*|127\.0\.0\.1|\d+"
    r"|\{[\w.-]+=OffsetAndMetadata.*\}\}"
)


def complaints(client: Client) -> set[str]:
    thrown = {_plain(event["message"]) for event in client.seen("error")}
    return thrown | complaints_in((client.folder / "errors").read_text(errors="replace"), client.library)


def complaints_in(log: str, library: str) -> set[str]:
    return {_plain(found) for line in log.splitlines() if (found := _complaint(line, library))}


def _plain(said: str) -> str:
    return OF_THIS_RUN.sub("·", said)[:200]


def _complaint(line: str, library: str) -> str | None:
    if library.startswith("java"):
        found = JAVA_LINE.match(line)
        return found["rest"] if found and found["level"] in ("WARN", "ERROR") else None
    if library == "confluent-kafka":
        found = LIBRDKAFKA_LINE.match(line)
        return found["rest"] if found and int(found["level"]) <= LIBRDKAFKA_WARNING else None
    return line.strip() or None
