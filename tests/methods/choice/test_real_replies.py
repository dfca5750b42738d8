"""Replies of real models, read by the rules and by a person."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from methods.choice.alphabet import NO_CHOICE
from methods.choice.strict import read_letter

RECORDED = json.loads(Path(__file__).with_name("real_replies.json").read_text("utf-8"))


def is_held_out(reply: dict[str, Any]) -> bool:
    return int(reply["id"], 16) % 2 == 1


def figures(replies: list[dict[str, Any]]) -> tuple[int, int, int]:
    """How many letters are read as a person reads them, otherwise, and not at all."""
    right = wrong = missed = 0
    for reply in replies:
        letter = read_letter(reply["reply"], reply["choices"]).letter
        letter = None if letter == NO_CHOICE else letter
        right += letter is not None and letter == reply["letter"]
        wrong += letter not in (None, reply["letter"])
        missed += letter is None and reply["letter"] is not None
    return right, wrong, missed


@pytest.mark.parametrize("held_out", [False, True], ids=["seen", "held out"])
def test_letters_of_real_replies_are_read_as_a_person_reads_them(held_out: bool) -> None:
    replies = [reply for reply in RECORDED["replies"] if is_held_out(reply) is held_out]
    n_letters = sum(reply["letter"] is not None for reply in replies)
    right, wrong, _ = figures(replies)
    assert right / (right + wrong) >= 0.995 and right / n_letters >= 0.98


SHARED = Path(__file__).parents[4] / "shared/data/real_replies"
BY_PERSON = (
    "CCBACCBABBBAABBBDCCCCCCCACAAABACCCBBBBBBBBBBBBBBBBADABDABDAABBBABBBBBDBBAABDABDABDABDABDABDABDABDA"
    "--A-B-CAA-------"
)
"""The letters that a person reads in the shared sample, `-` for none."""


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
def test_letters_of_the_shared_replies_are_read_as_a_person_reads_them() -> None:
    shared = json.loads((SHARED / "mc_replies.json").read_text("utf-8"))
    replies = [
        {**reply, "letter": None if letter == "-" else letter}
        for reply, letter in zip(shared, BY_PERSON, strict=True)
    ]
    right, wrong, missed = figures(replies)
    assert wrong == 0 and right / (right + missed) >= 0.98


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
def test_shared_texts_that_go_through_the_options_are_read_as_a_person_reads_them() -> None:
    tree = ast.parse((SHARED / "option_list.py").read_text("utf-8"))
    # Its constants only: it imports modules of the project by names that they had once.
    tree.body = [part for part in tree.body if isinstance(part, ast.Assign)]
    constants: dict[str, Any] = {}
    exec(compile(tree, "option_list.py", "exec"), constants)
    texts = constants["T"]
    read = {answer: read_letter(answer, choices).letter for _, answer, choices in texts}
    # A person is not sure of one: that option A is incorrect is no answer.
    wanted = {answer: None if letter == "A?" else letter for letter, answer, _ in texts}
    assert len(texts) == 12 and read == wanted
