"""Pairs that the checks drop from an instruction set, and the later pairs that go on from them."""

from dataclasses import replace

from assets.release.built_dialogues import apply_checks
from methods.release import ApprovedDialogue

BOTH = "Compare <image-1> and <image-2>."
FIRST = f"Image1: <ImageHere>, Image2: <ImageHere>. {BOTH}"
TURNS = (
    {"question_id": "a", "question": FIRST, "answer": "A."},
    {"question_id": "b", "question": BOTH, "answer": "B."},
    {"question_id": "c", "question": BOTH, "answer": "C."},
)
LAST = {"question_id": "d", "question": BOTH, "answer": "D."}
FOLLOWS = {"c": "a"}
DIALOGUE = ApprovedDialogue("d", "s", 0, (), ("x", "y"), TURNS, TURNS)


def found(
    outcomes: dict[str, str], follows: dict[str, str] = FOLLOWS
) -> dict[tuple[str, str], dict]:
    return {
        ("d", question_id): {
            "question_id": question_id,
            "outcome": outcome,
            "reasons": [],
            "follows": follows.get(question_id),
        }
        for question_id, outcome in outcomes.items()
    }


def left(outcomes: dict[str, str]) -> list[str]:
    (dialogue,) = apply_checks([DIALOGUE], found(outcomes), leave_out=True).dialogues
    return [turn["question_id"] for turn in dialogue.turns]


def test_a_pair_goes_with_the_earlier_one_that_it_goes_on_from() -> None:
    assert left({"a": "drop", "b": "pass", "c": "pass"}) == ["b"]
    assert left({"a": "pass", "b": "drop", "c": "pass"}) == ["a", "c"]
    assert left({"a": "pass", "b": "pass", "c": "pass"}) == ["a", "b", "c"]


def test_a_pair_that_goes_on_from_a_follow_up_goes_with_it() -> None:
    dialogue = replace(DIALOGUE, turns=(*TURNS, LAST), generated=(*TURNS, LAST))
    outcomes = {"a": "drop", "b": "pass", "c": "pass", "d": "pass"}
    (rest,) = apply_checks(
        [dialogue], found(outcomes, {"c": "a", "d": "c"}), leave_out=True
    ).dialogues
    assert [turn["question_id"] for turn in rest.turns] == ["b"]
