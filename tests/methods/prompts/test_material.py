"""Mentions of material that readers are not shown."""

import pytest

from methods.prompts import material
from methods.prompts.material import mention_of_material
from tests.methods.quality import written


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
        ("What does the article say about it?", "What does the article"),
        ("What is the main idea of the passage?", "idea of the passage"),
        ("From what I was told, it is old.", "what I was told"),
        ("Laut dem Text ist sie alt.", "Laut dem Text"),
        ("Selon l'article, qui l'a construite ?", "Selon l'article"),
        ("Según el texto, ¿quién la construyó?", "Según el texto"),
        ("この記事によると、いつですか。", "記事によると"),
        # What is in the picture is shown.
        ("A caption painted on the wall is red.", None),
        ("What does the text on the sign say?", None),
        ("The caption below the picture says so.", "caption"),
        ("What does the newspaper article in his hand show?", None),
        ("In summary, both are red.", None),
        ("The summary of it: both are red.", None),
        ("The summary of the page names him.", "The summary"),
        ("The passage between the two houses is narrow.", None),
    ],
)
def test_captions_notes_and_pages_are_found_and_pictures_are_not(text, found):
    assert mention_of_material(text) == found


def test_looking_for_a_part_of_a_phrase_first_loses_none() -> None:
    turns = [turn for each in written.texts(written.SEEN) for turn in each["turns"]]
    for text in [turn[of] for turn in turns for of in ("question", "answer")]:
        found = material._MATERIAL.search(text) or material._OTHER_LANGUAGES.search(text)
        assert mention_of_material(text) == (found[0].strip() if found else None)
