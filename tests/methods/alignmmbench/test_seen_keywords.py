"""Which keywords a picture shows, with cosines worked by hand."""

import numpy as np

from methods.alignmmbench import tasks
from methods.alignmmbench.tasks import cosines, phrase, seen_keywords

WORDS = {"Chart": ("bar chart", "map"), "Recognition": ("fruit",)}
PHRASES = np.array([[1, 0], [0.6, 0.8], [0, 1]], dtype=np.float32)
PICTURES = np.array([[1, 0], [0.8, 0.6], [-1, 0]], dtype=np.float32)
"""Cosines: a 1, 0.6, 0; b 0.8, 0.96, 0.6; c -1, -0.6, 0."""


def test_a_picture_shows_the_keywords_at_least_so_close_to_it() -> None:
    similarity = cosines(PICTURES, PHRASES)
    assert seen_keywords(["a", "b", "c"], similarity, WORDS, 0.6) == {
        "a": {"Chart": ("bar chart", "map")},
        "b": {"Chart": ("bar chart", "map"), "Recognition": ("fruit",)},
    }
    # A higher bar leaves fewer, and a picture with none is absent.
    assert seen_keywords(["a", "b", "c"], similarity, WORDS, 0.9) == {
        "a": {"Chart": ("bar chart",)},
        "b": {"Chart": ("map",)},
    }
    assert seen_keywords(["a", "b", "c"], similarity, WORDS, 1.1) == {}
    assert phrase("bar chart") == "a picture of bar chart"


def test_many_pictures_are_compared_in_parts_with_the_same_result(monkeypatch) -> None:
    whole = seen_keywords(["a", "b", "c"], cosines(PICTURES, PHRASES), WORDS, 0.6)
    monkeypatch.setattr(tasks, "AT_ONCE", 2)
    parts = cosines(PICTURES, PHRASES)
    assert [len(part) for part in parts] == [2, 1]
    assert seen_keywords(["a", "b", "c"], parts, WORDS, 0.6) == whole
