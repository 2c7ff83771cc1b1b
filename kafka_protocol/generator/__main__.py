"""python -m kafka_protocol.generator TARGET JAR [OLDER_JAR …]: write the messages package into TARGET."""

from __future__ import annotations

import sys
from pathlib import Path

from kafka_protocol.generator.definitions import read_jar, unite
from kafka_protocol.generator.writing import package


def main(target: Path, jars: list[Path]) -> None:
    files = package(unite([read_jar(jar) for jar in jars]))
    target.mkdir(parents=True, exist_ok=True)
    for stale in set(target.glob("*.py")) - {target / name for name in files}:
        stale.unlink()
    for name, text in files.items():
        (target / name).write_text(text)
    print(f"{len(files)} files, {sum(text.count(chr(10)) for text in files.values())} lines in {target}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), [Path(jar) for jar in sys.argv[2:]])
