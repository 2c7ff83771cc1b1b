"""Pictures as files: each twice, as SVG to look into (bars say what they are) and as PNG to paste anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pipeline.png import png
from pipeline.shapes import Picture
from pipeline.svg import svg


def write(pictures: Mapping[str, Picture | None], folder: Path) -> list[Path]:
    """By name; where there is nothing to show there is no file."""
    written: list[Path] = []
    for name, picture in pictures.items():
        if picture is not None:
            folder.mkdir(parents=True, exist_ok=True)
            # Not with_suffix: a name may have dots of its own.
            files = folder / f"{name}.svg", folder / f"{name}.png"
            files[0].write_text(svg(picture.alone()) + "\n", encoding="utf-8")
            files[1].write_bytes(png(picture.alone()))
            written += files
    return written
