"""Questions asked again in other words, found by the embeddings of questions with their answers."""

import numpy as np
import pytest

from methods.quality.outcome import NEAR_DUPLICATE, REPEATED, DialogueContent, QuestionAnswerPair
from methods.quality.rules import RuleLimits, by_rules
from resources.embedding.embedder import Embedder
from tests.methods.quality import written

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


@pytest.mark.parametrize(
    ("half", "least_found", "most_named"), [("seen", 23, 0), ("held_out", 19, 0)]
)
def test_of_written_dialogues_most_repeats_are_found_and_no_other_question_is_named(
    half: str, least_found: int, most_named: int
) -> None:
    dialogues, repeated = [], set()
    for text in written.texts(half):
        turns = [turn for turn in text["turns"] if turn["question"].strip()]
        pairs = [
            QuestionAnswerPair(text["id"], str(turn), turn, each["question"], each["answer"])
            for turn, each in enumerate(text["turns"], start=1)
            if each in turns
        ]
        dialogues.append(DialogueContent(text["id"], pairs, [], len(text["captions"])))
        if not text["sound"] and text["kind"] == "repeat":
            repeated.add((text["id"], str(text["turn"])))
    places = [(p.dialogue_id, p.question_id) for d in dialogues for p in d.pairs]
    asked = Embedder().encode([p.question for d in dialogues for p in d.pairs])
    told = Embedder().encode([f"{p.question} {p.answer}" for d in dialogues for p in d.pairs])
    vectors = dict(zip(places, np.stack([asked, told], axis=1), strict=True))
    # One corpus a dialogue: questions of other dialogues are not what is looked for.
    evidence = {}
    for dialogue in dialogues:
        evidence |= by_rules([dialogue], RuleLimits(alike=0.8), vectors)
    named = {place for place, of in evidence.items() if of[NEAR_DUPLICATE] or of[REPEATED]}
    assert len(named & repeated) >= least_found
    assert len(named - repeated) <= most_named
