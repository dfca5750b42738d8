"""Previews as the UI shows them: what fits is a table, what does not is turned, and text stays text."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from PIL import Image

from assets.common.previews import preview
from resources.images.store import ImageStore

IMAGE = "0123456789abcdef" * 4


def of(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows))


def cells(markdown: str) -> list[list[str]]:
    """The rows of the Markdown table, its head first, without the rule below it."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    return [[cell.strip() for cell in row] for row in [rows[0], *rows[2:]]]


def test_a_row_a_line_numbers_rounded_and_on_the_right() -> None:
    shown = preview(of({"model": "careful", "value": 87.28395061728395, "n": 81}))
    assert shown == "| model | value | n |\n| --- | ---: | ---: |\n| careful | 87.3 | 81 |"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (87.28395, "87.3"),
        (10.0, "10.0"),
        (9.96, "9.96"),
        (0.0004321, "0.000432"),
        (-0.8540536, "-0.854"),
        (1_234_567, "1234567"),
        (True, "True"),
        (None, ""),
        ([1, 2], "1 · 2"),
        ({"question": "Why?", "answer": "So."}, "Why? / So."),
        # JSON shows its texts without the ids of its images.
        (json.dumps({"image_ids": [IMAGE], "turns": [{"question": "Why?"}]}), "Why?"),
        ("{no JSON", "{no JSON"),
        # Chinese has no spaces, and is cut at the length of a text, not of a word.
        ("灯塔照亮了港口的入口。" * 20, ("灯塔照亮了港口的入口。" * 20)[:109] + "…"),
    ],
)
def test_values_as_people_write_them(value: object, shown: str) -> None:
    assert cells(preview(of({"value": value})))[1] == [shown]


@pytest.mark.parametrize(
    "answer",
    ['{"a":' * 3_000, "[" * 99 + "]" * 99, '["' + "long " * 1_000_000 + '"]', "deadbeef" * 600_000],
)
def test_whatever_a_model_answers_has_a_short_preview(answer: str) -> None:
    (shown,) = cells(preview(of({"answer": answer})))[1]
    assert len(shown) <= 150


def test_a_hash_is_short_an_address_shows_its_end_a_long_text_its_beginning() -> None:
    row = {
        "call_key": IMAGE,
        "page_url": "https://en.wikipedia.org/wiki/Lighthouse_of_Alexandria",
        "text": "word " * 60,
    }
    ((key, url, text),) = cells(preview(of(row)))[1:]
    assert key == "01234567…"
    assert url.replace("\\", "") == "…ki/Lighthouse_of_Alexandria"
    assert text.startswith("word word") and text.endswith("…") and len(text) == 110


def test_what_is_the_same_in_all_rows_stands_above_a_wide_table() -> None:
    same = {f"setting_number_{n}": f"the same value {n}" for n in range(8)}
    nobody_has = {"seed": None}
    rows = (
        {**same, **nobody_has, "model": model, "value": value}
        for model, value in (("a", 1.0), ("b", 2.0))
    )
    shown = preview(of(*rows))
    above, _, table = shown.partition("\n\n")
    assert html.unescape(above).replace("\\", "") == "The same in these rows: " + " · ".join(
        f"{name}: {value}" for name, value in same.items()
    )
    assert cells(table) == [["model", "value"], ["a", "1"], ["b", "2"]]


def test_the_columns_of_a_table_that_is_still_too_wide_stand_below_each_other() -> None:
    rows = [{f"column_{n}": f"value {n} of row {row}" for n in range(12)} for row in range(1, 6)]
    shown = cells(preview(of(*rows)))
    assert shown[0] == ["column", "row 1", "row 2", "row 3"]
    assert shown[1] == ["**column\\_0**", *(f"value 0 of row {row}" for row in (1, 2, 3))]
    assert len(shown) == 1 + 12


def test_no_text_is_markup_of_html_or_markdown() -> None:
    hostile = '<script>x</script> ![p](http://e.x/p.png) [l](j:s) *b* `c` a|b <img src="x">'
    (shown,) = cells(preview(of({"caption": hostile})))[1]
    assert "<" not in shown
    # Every sign that Markdown reads is preceded by a backslash.
    assert re.search(r"(?<!\\)[\[\]!*`|]", shown) is None
    assert html.unescape(re.sub(r"\\(.)", r"\1", shown)) == hostile


def test_ids_of_images_are_thumbnails_five_at_most(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images")
    Image.new("RGB", (300, 200), "red").save(tmp_path / "one.png")
    image_id = store.put((tmp_path / "one.png").read_bytes()).image_id
    shown = preview(of({"image_id": image_id, "image_ids": [image_id] * 7}), store)
    one, several = cells(shown)[1]
    assert one.startswith(f"![{image_id[:8]}](data:image/jpeg;base64,")
    assert several.count("](data:image/jpeg;base64,") == 5
