"""Questions asked again in other words, found by the cosines of questions with their answers."""

import numpy as np
import pytest

from methods.quality.outcome import NEAR_DUPLICATE, DialogueContent, QuestionAnswerPair
from methods.quality.rules import RuleLimits, by_rules

Pair = tuple[str, str]


def found(one: Pair, other: Pair, *cosines: float) -> str | None:
    """What is found in the second pair at the cosines of the questions, alone and with answers."""
    pairs = [
        QuestionAnswerPair("d", str(turn), turn, *pair) for turn, pair in enumerate((one, other), 1)
    ]
    vectors = {
        ("d", "1"): np.array([[1, 0], [1, 0]], dtype=np.float32),
        ("d", "2"): np.array([[each, np.sqrt(1 - each**2)] for each in cosines], dtype=np.float32),
    }
    of = DialogueContent("d", pairs, [])
    evidence = by_rules([of], RuleLimits(), vectors if cosines else None)
    return evidence["d", "2"][NEAR_DUPLICATE]


def test_a_pair_is_a_rewording_from_the_cosine_on() -> None:
    one = ("What is the sea like?", "It is calm.")
    other = ("How would one describe the water?", "Without waves.")
    assert found(one, other, 0.76, 0.76) == "turn 1 asks the same in other words"
    # Long answers about one picture are always alike, and so are questions that differ in one word.
    assert found(one, other, 0.74, 0.9) is None and found(one, other, 0.9, 0.74) is None
    # Without vectors only the words are compared.
    assert found(one, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is in her right hand?", "What is in her left hand?"),
        ("Who wears the red hat?", "Who wears the blue hat?"),
        ("What shows <image-1>?", "What shows <image-2>?"),
    ],
)
def test_another_direction_colour_or_picture_asks_something_else(one: str, other: str) -> None:
    assert found((one, "A torch."), (other, "A tablet."), 0.99, 0.99) is None
