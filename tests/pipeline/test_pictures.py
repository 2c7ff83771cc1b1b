"""Pictures are the same in a page, as SVG and as PNG, whatever the names in them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from pyspark.sql import SparkSession

from pipeline.drawing import COLOURS, PHASES, Bar, beside, counts, lanes, palette
from pipeline.excerpts import Excerpt
from pipeline.letters import HIGH, LETTERS, WIDE
from pipeline.png import INK, PAPER, SCALE, SIGNATURE, png
from pipeline.report import drawn, page, pictures, write_pictures
from pipeline.shapes import Picture, Rect, Text, upright
from pipeline.svg import svg

SECOND = 10**9
SVG = "{http://www.w3.org/2000/svg}"


def dots(encoded: bytes) -> list[list[str]]:
    """What is in a PNG of one byte a dot, read by the letter of the format."""
    assert encoded.startswith(SIGNATURE)
    at, parts = len(SIGNATURE), dict[bytes, bytes]()
    while at < len(encoded):
        (length,) = struct.unpack_from(">I", encoded, at)
        kind, body = encoded[at + 4 : at + 8], encoded[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", encoded, at + 8 + length) == (zlib.crc32(kind + body),)
        parts[kind] = body
        at += 12 + length
    width, height = struct.unpack_from(">II", parts[b"IHDR"])
    colours = [f"#{parts[b'PLTE'][n : n + 3].hex().upper()}" for n in range(0, len(parts[b"PLTE"]), 3)]
    raw = zlib.decompress(parts[b"IDAT"])
    rows = [raw[n : n + width + 1] for n in range(0, len(raw), width + 1)]
    assert len(rows) == height
    assert {row[0] for row in rows} == {0}
    return [[colours[dot] for dot in row[1:]] for row in rows]


def painted(*shapes: Rect | Text, width: int = 20, height: int = 12) -> list[list[str]]:
    return dots(png(Picture(width, height, shapes)))


def test_a_box_is_where_it_is_said_to_be_and_nothing_else_is_painted() -> None:
    found = painted(Rect(3, 2, 5, 4, "#0072B2"))
    where = {(x // SCALE, y // SCALE) for y, row in enumerate(found) for x, dot in enumerate(row) if dot != PAPER}
    assert where == {(x, y) for x in range(3, 8) for y in range(2, 6)}
    assert {dot for row in found for dot in row} == {PAPER, "#0072B2"}


def test_nothing_is_so_short_that_it_is_not_seen() -> None:
    assert "#0072B2" in painted(Rect(3.2, 2, 0.01, 4, "#0072B2"))[5]


@pytest.mark.parametrize("x", [-50, 19, 25])
def test_what_lies_outside_is_cut_off(x: int) -> None:
    found = painted(Rect(x, -5, 10, 100, "#0072B2"), Text(x, 6, "off"))
    assert {len(row) for row in found} == {20 * SCALE}


def test_what_comes_later_lies_over_what_came_before() -> None:
    found = painted(Rect(0, 0, 20, 12, "#0072B2"), upright(10, 0, 12, "#CC0000"))
    assert {dot for row in found for dot in row} == {"#0072B2", "#CC0000"}


@pytest.mark.parametrize(("anchor", "columns"), [("start", (10, 14)), ("middle", (7, 12)), ("end", (5, 9))])
def test_letters_lie_where_they_are_anchored(anchor: str, columns: tuple[int, int]) -> None:
    found = painted(Text(10, 9, "H", anchor))
    inked = [x // SCALE for row in found for x, dot in enumerate(row) if dot == INK]
    assert (min(inked), max(inked)) == columns


def test_every_letter_is_of_one_size_and_like_no_other() -> None:
    assert set(map(chr, range(32, 127))) <= LETTERS.keys()
    assert all(len(rows) == HIGH and {len(row) for row in rows} == {WIDE} for rows in LETTERS.values())
    assert len(set(LETTERS.values())) == len(LETTERS)
    assert {dot for rows in LETTERS.values() for row in rows for dot in row} == {"#", "."}


def test_a_letter_that_is_not_there_is_a_box() -> None:
    assert painted(Text(2, 9, "語")) != painted(Text(2, 9, " "))


def test_more_colours_than_a_palette_holds_are_no_failure() -> None:
    found = painted(*[Rect(n % 20, n // 20, 1, 1, f"#{n:06X}") for n in range(300)], height=16)
    assert found[0][2] == "#000001"
    assert found[14 * SCALE][0] == INK


@pytest.mark.broker
def test_a_reader_that_is_not_ours_reads_the_same(spark_image: Any, tmp_path: Path) -> None:
    encoded = png(lanes_of_two().alone())
    (tmp_path / "picture.png").write_bytes(encoded)
    image, ours = spark_image(tmp_path / "picture.png"), dots(encoded)
    assert (image.getWidth(), image.getHeight()) == (len(ours[0]), len(ours))
    for x, y in [(0, 0), (500, 10), (1200, 40), (30, 150), (1999, 60)]:
        assert f"#{image.getRGB(x, y) & 0xFFFFFF:06X}" == ours[y][x]


@pytest.fixture
def spark_image(spark: SparkSession) -> Any:
    """Java's own."""
    java = spark._jvm
    return lambda file: java.javax.imageio.ImageIO.read(java.java.io.File(str(file)))


def lanes_of_two(first: str = "alice", second: str = "bob") -> Picture:
    bars = [Bar(first, 0, 3 * SECOND, "stable"), Bar(second, SECOND, 9 * SECOND, "prepare-rebalance")]
    picture = lanes(bars, PHASES, [(5 * SECOND, "double ownership")])
    assert picture is not None
    return picture


def test_svg_and_png_show_the_same_boxes() -> None:
    picture = lanes_of_two()
    found = dots(png(picture))
    boxes = ElementTree.fromstring(svg(picture)).findall(f"{SVG}rect")
    # Two stays, and what happened.
    assert len(boxes) == 3
    for box in boxes:
        x = float(box.get("x", "")) + min(float(box.get("width", "")) / 2, 1)
        y = float(box.get("y", "")) + float(box.get("height", "")) / 2
        assert found[int(y * SCALE)][int(x * SCALE)] == box.get("fill")


def test_a_file_of_its_own_says_what_its_colours_mean() -> None:
    alone = lanes_of_two().alone()
    said = {text.text for text in ElementTree.fromstring(svg(alone)).findall(f"{SVG}text")}
    assert {"stable", "prepare-rebalance"} <= said
    assert alone.height > lanes_of_two().height


def test_a_long_legend_takes_several_rows_and_stays_in_the_picture() -> None:
    names = [f"member-{number}-of-a-rather-large-group" for number in range(30)]
    picture = lanes([Bar("t:0", n, n + 1, name) for n, name in enumerate(names)], palette(names))
    assert picture is not None
    alone = picture.alone()
    texts = [shape for shape in alone.shapes if isinstance(shape, Text) and shape.said in names]
    assert len(texts) == 30
    assert all(text.x < alone.width and text.y < alone.height for text in texts)
    assert len({text.y for text in texts}) > 5


def test_no_name_breaks_out_of_a_picture() -> None:
    evil = "</text><script>\"&'"
    picture = lanes_of_two(evil, "b")
    texts = [text.text for text in ElementTree.fromstring(svg(picture)).findall(f"{SVG}text")]
    assert evil in texts
    assert png(picture).startswith(SIGNATURE)


@pytest.mark.parametrize("unfit", ["\x00", "\x01", "\x1b", "\ufffe", "\ud800"])
def test_what_xml_cannot_have_is_shown_as_unknown(unfit: str) -> None:
    picture = lanes_of_two(f"app{unfit}-é😀", "b")
    texts = [text.text for text in ElementTree.fromstring(svg(picture)).findall(f"{SVG}text")]
    assert "app\ufffd-é😀" in texts
    assert unfit not in page(reported(f"g{unfit}"))


def test_two_prices_stand_beside_one_another_in_proportion_and_what_is_not_known_has_no_bar() -> None:
    picture = beside([("1", {"here": 2.0, "there": 8.0}), ("2", {"here": 0.0, "there": None})], "rebalances")
    assert picture is not None
    here, there = (shape for shape in picture.shapes if isinstance(shape, Rect))
    assert there.width == pytest.approx(4 * here.width)
    assert (here.colour, there.colour) == COLOURS[:2]
    said = [shape.said for shape in picture.shapes if isinstance(shape, Text)]
    assert said == ["1", "2 rebalances", "8 rebalances", "2", "0 rebalances", "not known"]


def test_where_there_is_nothing_there_is_no_picture() -> None:
    assert lanes([], {}) is counts([], "s") is beside([], "s") is beside([("1", {"here": None})], "s") is None


# ------------------------------------------------------------------------------------------------------------- of a report


def reported(group: str, *deploys: dict[str, Any], **more: Any) -> Any:
    """What a report reads of tables, without any."""
    phase = {"group_id": group, "member_id": "a", "phase": "stable", "from_ns": 0, "to_ns": SECOND, "epoch": 1}
    played = Excerpt(deploys, len(deploys))
    nothing: dict[str, Any] = {
        "ownership": {},
        "broken": {},
        "durations": {},
        "audits": Excerpt(),
        "readiness": Excerpt(),
        "findings": [],
        "verdicts": [],
        "rejects": [],
        "paid": (len(deploys), 0, 0),
    }
    there = {"groups": Excerpt([group], 1), "phases": {group: Excerpt([phase | {"named": None}], 1)}, "end_ns": SECOND}
    return SimpleNamespace(**(nothing | there | {"cost": played, "deploys": {group: played}} | more))


def deploy(**more: Any) -> dict[str, Any]:
    felt = {
        "rebalances": 3,
        "revoked": 2,
        "in_vain": 0,
        "idle_partition_ns": 0,
        "unowned_partition_ns": 9 * SECOND // 2,
    }
    broker = {
        "broker_rebalances": 12.5,
        "broker_revoked": 4.0,
        "broker_in_vain": 6.0,
        "broker_unowned_partition_ns": None,
    }
    return {"group_id": "g", "from_ns": 0, "joined": 1, "adopted": 0, "left": 1} | felt | broker | more


@pytest.mark.parametrize("group", ["orders", "../../etc/passwd", "a b/c", "g" * 300, ".."])
def test_a_picture_is_written_twice_and_into_its_folder_whatever_the_group_is_called(
    tmp_path: Path, group: str
) -> None:
    folder = tmp_path / "pictures"
    written = write_pictures(reported(group), folder)
    assert sorted(path.suffix for path in written) == [".png", ".svg"]
    assert {path.parent for path in written} == {folder}
    assert sorted(folder.iterdir()) == sorted(written)
    assert [path.name for path in tmp_path.iterdir()] == ["pictures"]


def test_a_deploy_is_told_with_what_the_broker_would_have_caused_where_that_is_known() -> None:
    html = page(reported("g", deploy()))
    assert "<td>3 (broker: 12.5)</td><td>2 (broker: 4.0)</td><td>0 (broker: 6.0)</td>" in html
    assert "<td>4.5</td>" in html
    assert "12.5 rebalances" in pictures(reported("g", deploy()), "g")["cost"]


def test_a_picture_of_a_deploy_that_was_not_played_again_says_so() -> None:
    picture = drawn(reported("g", deploy(broker_rebalances=None)), "g")["cost"]
    assert picture is not None
    assert "not known" in {shape.said for shape in picture.shapes if isinstance(shape, Text)}


def test_nobody_can_take_some_for_all() -> None:
    some = Excerpt([deploy()], 254)
    html = page(reported("g", cost=some, deploys={"g": some}, groups=Excerpt(["g"], 30), paid=(254, 500, SECOND)))
    assert "254 deploys cost 500 rebalances and 1.0 unowned" in html
    for said in (
        "<p>1 of 254 deploys: those that were felt most.",
        "<p>1 of 254 deploys: the last.",
        "<p>1 of 30 groups",
    ):
        assert said in html
    assert " of 1 " not in page(reported("g", deploy()))
