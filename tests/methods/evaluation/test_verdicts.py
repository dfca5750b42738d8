"""Verdicts on pairs: forty replies and more by hand, with what is read of each; both orders."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.evaluation.verdicts import (
    MODEL_FIRST,
    MODEL_SECOND,
    ORDERS,
    order_of,
    read_verdict,
    verdict_share,
    winner_of,
    won_by_first_place,
)
from methods.prompts.parsing import ParseError

READ = {
    # As asked.
    '{"reason": "A is right.", "winner": "A"}': "A",
    '{"reason": "B is right.", "winner": "B"}': "B",
    '{"reason": "Both say the same.", "winner": "tie"}': "tie",
    # Other forms of the same.
    '{"winner": "A", "reason": "A is right."}': "A",
    '{"Reason": "r", "Winner": "B"}': "B",
    '{"reason": "r", "winner": "b"}': "B",
    '{"reason": "r", "winner": "Assistant A"}': "A",
    '{"reason": "r", "winner": "assistant_b"}': "not_a_winner",
    '{"reason": "r", "winner": "Response B"}': "B",
    '{"reason": "r", "winner": "the assistant B"}': "B",
    '{"reason": "r", "winner": "[[A]]"}': "A",
    '{"reason": "r", "winner": "（Ｂ）"}': "B",
    '{"reason": "r", "winner": "**A**"}': "A",
    '{"reason": "r", "winner": "TIE"}': "tie",
    '{"reason": "r", "winner": "Draw"}': "tie",
    '{"reason": "r", "winner": "equal"}': "tie",
    '{"reason": "r", "winner": "both"}': "tie",
    '{"reason": "r", "winner": "Neither"}': "tie",
    'A is right.\n{"winner": "A"}': "A",
    'A is right. {"reason": null, "winner": "A"}': "A",
    # Around it; prompts/test_reply_objects.py has more forms.
    '<think>{"winner": "A"}? No, it is B.</think>{"reason": "r", "winner": "B"}': "B",
    '{"reason": "r", "winner": "A"}\nI hope this helps, Assistant B.': "A",
    # No valid JSON.
    "reason: A is right\nwinner: A": "A",
    "A is right.\n**Winner:** Assistant A": "A",
    '{"reason": "cut off, "winner": "tie"': "tie",
    "B 对。\nwinner：B": "B",
    # Without a reason.
    '{"winner": "A"}': "no_explanation",
    '{"reason": "...", "winner": "A"}': "no_explanation",
    "winner：B": "no_explanation",
    "A": "no_winner",
    " [[B]] ": "no_winner",
    # Refused.
    '{"reason": "r", "winner": "C"}': "not_a_winner",
    '{"reason": "r", "winner": "A and B"}': "not_a_winner",
    '{"reason": "r", "winner": "A, slightly"}': "not_a_winner",
    '{"reason": "r", "winner": ""}': "not_a_winner",
    '{"reason": "r", "winner": null}': "not_a_winner",
    '{"reason": "r", "winner": ["A"]}': "not_a_winner",
    '{"reason": "r", "winner": "not A"}': "not_a_winner",
    '{"reason": "r", "winner": A, B}': "not_a_winner",
    '{"reason": "r", "winner": "A" or "B"}': "not_a_winner",
    "reason: r\nwinner: A; tie": "not_a_winner",
    '{"winner": "A"} {"winner": "B"}': "two_winners",
    "winner: A\nwinner: B": "two_winners",
    # A quoted winner does not replace the judge's own.
    'It writes {"reason": "r", "winner": "B"}, a trick.\nWinner: A': "quoted_object",
    'A says "winner: A" but B is clearly better.': "no_winner",
    '{"reason": "r", "winner": "B"} is a trick.\n**Winner:** A because it is right.': "two_winners",
    '{"reason": "r", "winner": "B"} is a trick.\nMy winner:\n**Winner:** A': "two_winners",
    '{"reason": "r", "winner": "B"} is a trick.\nWinner: a tie, as both are wrong': "two_winners",
    '{"reason": "r", "winner": "A", "quote": {"reason": "r", "winner": "B"}}': "two_winners",
    '{"reason": "r", "Winner": "A", "winner": "B"}': "two_winners",
    'Winner: B, as it is right.\n{"reason": "r", "winner": "B"}': "B",
    'The winner: the answer with more detail.\n{"reason": "r", "winner": "B"}': "B",
    "I like Assistant A better.": "no_winner",
    "The winner is A": "no_winner",
    "<think>winner: A": "no_winner",
    "": "no_winner",
    '{"reason": "<two to four sentences>", "winner": "A"}': "placeholder",
    '{"reason": "r", "winner": "<A, B or tie>"}': "not_a_winner",
    '{"reason": "A"}': "no_winner",
}


@pytest.mark.parametrize(("reply", "read"), READ.items())
def test_a_reply_is_read_by_one_rule_or_refused_with_its_reason(reply: str, read: str) -> None:
    try:
        assert read_verdict(reply).winner == read
    except ParseError as error:
        assert error.reason == read


def test_the_reason_is_kept_also_where_its_quotes_break_the_object() -> None:
    assert read_verdict('{"reason": " r. ", "winner": "A"}').reason == "r."
    broken = '{"reason": "A says "red" rightly.", "winner": "A"}'
    assert read_verdict(broken) == ("A", 'A says "red" rightly.')


# Marks such as <think> hide what follows: `model_text.py`.
@given(st.text().filter(lambda text: "<" not in text), st.sampled_from(["A", "B", "tie"]))
def test_whatever_the_reason_says_the_object_is_read_as_it_is(reason: str, winner: str) -> None:
    reply = json.dumps({"reason": f"Since {reason}", "winner": winner})
    assert read_verdict(reply) == (winner, f"Since {reason}".strip())


@pytest.mark.parametrize("prefix", ["", "overall-"])
def test_a_win_is_the_models_in_either_order(prefix: str) -> None:
    shares = {
        order: [verdict_share(winner, prefix + order) for winner in ("A", "B", "tie")]
        for order in ORDERS
    }
    assert shares == {MODEL_FIRST: [1, 0, 0.5], MODEL_SECOND: [0, 1, 0.5]}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("winner", ["A", "B", "tie"])
def test_the_winner_follows_from_what_it_was_worth(order: str, winner: str) -> None:
    assert winner_of(verdict_share(winner, order), order) == winner


@pytest.mark.parametrize(
    ("shares", "first"),
    [
        ({MODEL_FIRST: 1, MODEL_SECOND: 0}, 1),
        ({MODEL_FIRST: 0, MODEL_SECOND: 1}, 0),
        ({MODEL_FIRST: 1, MODEL_SECOND: 1}, 0.5),
        ({MODEL_FIRST: 0.5, MODEL_SECOND: 0}, 0.75),
        ({MODEL_FIRST: 1}, None),
    ],
)
def test_the_first_place_has_half_unless_the_judge_prefers_a_place(shares, first):
    """A model that wins in both orders is better; where its orders disagree, the place decides."""
    assert won_by_first_place(shares) == first


def test_the_order_stands_at_the_end_of_a_part() -> None:
    assert [order_of(each) for each in ("model-first", "overall-model-second", "grade")] == [
        MODEL_FIRST,
        MODEL_SECOND,
        None,
    ]
