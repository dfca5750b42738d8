"""Typed values as the texts of cells: what is missing, what is a text, what an image is."""

import base64
from datetime import datetime

import pytest

from methods.evaluation.cells import ImageCells, image_cells, text_of
from methods.evaluation.published import PublishedError

RED, BLUE = b"\x89PNG red", b"\xff\xd8 blue"
IN_RED, IN_BLUE = (base64.b64encode(each).decode() for each in (RED, BLUE))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (float("nan"), ""),
        # Texts, whatever tools take them for.
        ("None", "None"),
        ("NA", "NA"),
        ("nan", "nan"),
        ("", ""),
        ("a\0b", "a\0b"),
        (7, "7"),
        (7.0, "7"),
        (7.5, "7.5"),
        (float("inf"), "inf"),
        (True, "True"),
        (datetime(2024, 1, 2), "2024-01-02"),
        (datetime(2024, 1, 2, 3, 4), "2024-01-02 03:04:00"),
        (b"caf\xc3\xa9", "café"),
        (["a", "b"], "['a', 'b']"),
        ({"a": [1, None]}, '{"a": [1, null]}'),
    ],
)
def test_a_value_is_the_text_of_a_cell(value: object, text: str) -> None:
    assert text_of(value) == text


def test_bytes_that_are_no_text_and_images_inside_and_by_path_are_refused():
    with pytest.raises(UnicodeDecodeError):
        text_of(b"\xff\xfe")
    # Images inside and by path in one row are refused.
    with pytest.raises(PublishedError, match="record 1 has some images inside and some by path"):
        image_cells("record 1", [{"bytes": RED}, {"path": "b.png"}])


BOTH = repr([IN_RED, IN_BLUE])


@pytest.mark.parametrize(
    ("value", "cells"),
    [
        (None, ("", "")),
        (IN_RED, (IN_RED, "")),
        (RED, (IN_RED, "")),
        ({"bytes": RED, "path": None}, (IN_RED, "")),
        # Hugging Face keeps the name that the file had.
        ({"bytes": RED, "path": "red.png"}, (IN_RED, "")),
        ({"bytes": None, "path": "red.png"}, ("", "red.png")),
        ({"bytes": None, "path": None}, ("", "")),
        # The index of the row that has the image.
        (241, ("241", "")),
        ([IN_RED, IN_BLUE], (BOTH, "")),
        ([RED, BLUE], (BOTH, "")),
        ([{"bytes": RED}, {"bytes": BLUE, "path": "b"}], (BOTH, "")),
        ([{"path": "a"}, {"bytes": None, "path": "b"}], ("", "['a', 'b']")),
        ([], ("", "")),
    ],
)
def test_an_image_is_base64_or_a_path(value: object, cells: tuple[str, str]) -> None:
    assert image_cells("record 1", value) == ImageCells(*cells)
