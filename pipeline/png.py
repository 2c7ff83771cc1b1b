"""A picture as PNG, with nothing but zlib: dots in rows, and letters of our own.

Every colour that occurs has a place in the palette, so a dot is a byte and a row of one colour compresses to almost
nothing. Pictures are for reading on any screen: each dot is painted `SCALE` dots wide and high.
"""

from __future__ import annotations

import struct
import zlib

from pipeline.letters import ADVANCE, LETTERS, UNKNOWN
from pipeline.shapes import Picture, Rect, Text

SCALE = 2
PAPER, INK = "#FFFFFF", "#222222"
MOST_COLOURS = 256
SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Bits a dot; a palette; and the only compression, filter and order of rows that matter here.
FORMAT = bytes((8, 3, 0, 0, 0))
# The line that letters stand on is the lower edge of their seventh row.
ABOVE_THE_LINE = 7


def png(picture: Picture) -> bytes:
    canvas = Canvas(picture.width * SCALE, picture.height * SCALE)
    for shape in picture.shapes:
        match shape:
            case Rect():
                canvas.fill(shape.x, shape.y, shape.width, shape.height, shape.colour)
            case Text():
                _write(canvas, shape)
    return canvas.encoded()


class Canvas:
    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.rows = [bytearray(width) for _ in range(height)]
        self._colours = {PAPER: 0}

    def fill(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """In the picture's dots. Nothing is so small that it is not seen; what lies outside is cut off."""
        left, top = max(round(x * SCALE), 0), max(round(y * SCALE), 0)
        right = min(max(round((x + width) * SCALE), left + 1), self.width)
        bottom = min(max(round((y + height) * SCALE), top + 1), self.height)
        if right > left:
            stroke = bytes((self._place(colour),)) * (right - left)
            for row in self.rows[top:bottom]:
                row[left:right] = stroke

    def encoded(self) -> bytes:
        palette = b"".join(bytes.fromhex(colour[1:]) for colour in self._colours)
        # A zero before each row: it is not filtered.
        dots = zlib.compress(b"".join(b"\0" + row for row in self.rows), 6)
        head = struct.pack(">II", self.width, self.height) + FORMAT
        return SIGNATURE + b"".join(
            _chunk(kind, body) for kind, body in ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", dots), (b"IEND", b""))
        )

    def _place(self, colour: str) -> int:
        """Of a picture with too many colours the rest are ink; there are eight for members and four for phases."""
        if len(self._colours) >= MOST_COLOURS - 1:
            self._colours.setdefault(INK, len(self._colours))
            return self._colours.get(colour, self._colours[INK])
        return self._colours.setdefault(colour, len(self._colours))


def _write(canvas: Canvas, text: Text) -> None:
    long = len(text.said) * ADVANCE - 1
    left = text.x - {"start": 0.0, "middle": long / 2, "end": float(long)}[text.anchor]
    for at, letter in enumerate(text.said):
        for down, row in enumerate(LETTERS.get(letter, UNKNOWN)):
            for across, dot in enumerate(row):
                if dot == "#":
                    canvas.fill(left + at * ADVANCE + across, text.y - ABOVE_THE_LINE + down, 1, 1, INK)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
