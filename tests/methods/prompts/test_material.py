"""Mentions of material that readers are not shown."""

import pytest

from methods.prompts.material import mention_of_material


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What does the caption say?", "caption"),
        ("According to the short article, when was it built?", "According to the short article"),
        ("Based on this information, who is it?", "Based on this information"),
        ("根据所给文字，这是什么？", "根据所给文字"),
        ("这个词条讲了什么？", "词条"),
        ("Which page of the book is open?", None),
        ("According to the clock, what time is it?", None),
        ("根据图片写一首诗。", None),
    ],
)
def test_captions_notes_and_pages_are_found_and_pictures_are_not(
    text: str, found: str | None
) -> None:
    assert mention_of_material(text) == found
