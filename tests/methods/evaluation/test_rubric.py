"""The bands of scores that people are shown, read from the prompts that judges get."""

import re

import pytest

from methods.evaluation.rubric import rubric_in
from methods.mmdu.judging import DIMENSIONS
from resources.settings.prompts import prompt


def test_every_dimension_of_mmdu_has_its_five_bands() -> None:
    found = rubric_in(prompt("mmdu/judge").text, DIMENSIONS)
    assert [text.partition(" - ")[0] for text in found] == list(DIMENSIONS)
    for text in found:
        assert re.findall(r"\b\d+-\d+ ", text) == ["1-2 ", "3-4 ", "5-6 ", "7-8 ", "9-10 "]
        assert "\n" not in text
    # Nothing of the next paragraph.
    assert found[-1].endswith("9-10 clearly better than the reference.")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_bands_of_one_dimension_are_a_list(language: str) -> None:
    (text,) = rubric_in(prompt(f"alignmmbench/judge_{language}").text, ["Overall Score"])
    bands = ["1", "2", "3", "4 or 5", "6", "7 or 8", "9 or 10"]
    found = re.findall(r"(?:- |; )(\d+(?: (?:or|或) \d+)?) ", text)
    assert [each.replace("或", "or") for each in found] == bands


def test_a_prompt_without_bands_gives_none() -> None:
    assert rubric_in("Grade it.", ["Overall Score"]) == []
    assert rubric_in("Richness - depth.\n  1-2 thin.\n\nNot this.", ["Richness", "Other"]) == [
        "Richness - depth. 1-2 thin."
    ]
