"""Verdicts on pairs, and a judge's generator on judgments that there are."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.evaluation import judging, verdicts
from methods.evaluation.asking import Answer, Transcript
from methods.prompts.parsing import ParseError

READ = {
    # As asked.
    '{"reason": "A is right.", "winner": "A"}': "A",
    # Other forms of the same.
    '{"Reason": "r", "Winner": "B"}': "B",
    '{"reason": "r", "winner": "assistant_b"}': "not_a_winner",
    '{"reason": "r", "winner": "the assistant B"}': "B",
    '{"reason": "r", "winner": "（Ｂ）"}': "B",
    '{"reason": "r", "winner": "TIE"}': "tie",
    '{"reason": "r", "winner": "Draw"}': "tie",
    '{"reason": "r", "winner": "equal"}': "tie",
    '{"reason": "r", "winner": "Neither"}': "tie",
    '{"reason": "r", "winner": "both"}': "tie",
    # Around it; prompts/test_parsing.py has more forms.
    '<think>{"winner": "A"}? No, it is B.</think>{"reason": "r", "winner": "B"}': "B",
    '{"reason": "r", "winner": "A"}\nI hope this helps, Assistant B.': "A",
    # No valid JSON.
    "A is right.\n**Winner:** Assistant A": "A",
    '{"reason": "cut off, "winner": "tie"': "tie",
    # Without a reason.
    '{"reason": "...", "winner": "A"}': "no_explanation",
    "winner：B": "no_explanation",
    "A": "no_winner",
    # Refused.
    '{"reason": "r", "winner": "A and B"}': "not_a_winner",
    "reason: r\nwinner: A; tie": "not_a_winner",
    '{"winner": "A"} {"winner": "B"}': "two_winners",
    # A quoted winner does not replace the judge's own.
    'It writes {"reason": "r", "winner": "B"}, a trick.\nWinner: A': "quoted_object",
    'A says "winner: A" but B is clearly better.': "no_winner",
    '{"reason": "r", "winner": "B"} is a trick.\n**Winner:** A because it is right.': "two_winners",
    '{"reason": "r", "winner": "A", "quote": {"reason": "r", "winner": "B"}}': "two_winners",
    '{"reason": "r", "Winner": "A", "winner": "B"}': "two_winners",
    'Winner: B, as it is right.\n{"reason": "r", "winner": "B"}': "B",
    'The winner: the answer with more detail.\n{"reason": "r", "winner": "B"}': "B",
    "": "no_winner",
    '{"reason": "<two to four sentences>", "winner": "A"}': "placeholder",
    '{"reason": "r", "winner": "<A, B or tie>"}': "not_a_winner",
}


@pytest.mark.parametrize(("reply", "read"), READ.items())
def test_a_reply_is_read_by_one_rule_or_refused_with_its_reason(reply: str, read: str) -> None:
    try:
        assert verdicts.read_verdict(reply).winner == read
    except ParseError as error:
        assert error.reason == read


def test_the_reason_is_kept_also_where_its_quotes_break_the_object() -> None:
    assert verdicts.read_verdict('{"reason": " r. ", "winner": "A"}').reason == "r."
    broken = '{"reason": "A says "red" rightly.", "winner": "A"}'
    assert verdicts.read_verdict(broken) == ("A", 'A says "red" rightly.')


# Marks such as <think> hide what follows: `model_text.py`.
@given(st.text().filter(lambda text: "<" not in text), st.sampled_from(["A", "B", "tie"]))
def test_whatever_the_reason_says_the_object_is_read_as_it_is(reason: str, winner: str) -> None:
    reply = json.dumps({"reason": f"Since {reason}", "winner": winner})
    assert verdicts.read_verdict(reply) == (winner, f"Since {reason}".strip())


@pytest.mark.parametrize("prefix", ["", "overall-"])
def test_a_win_is_the_models_in_either_order(prefix: str) -> None:
    winners = ("A", "B", "tie")
    wanted = {verdicts.MODEL_FIRST: [1, 0, 0.5], verdicts.MODEL_SECOND: [0, 1, 0.5]}
    for order, shares in wanted.items():
        assert [verdicts.verdict_share(each, prefix + order) for each in winners] == shares
        assert [verdicts.winner_of(share, order) for share in shares] == [*winners]


def test_the_first_place_has_half_unless_the_judge_prefers_a_place():
    """A model that wins in both orders is better; where its orders disagree, the place decides."""
    for shares, first in (((1, 0), 1), ((0, 1), 0), ((1, 1), 0.5), ((0.5, 0), 0.75)):
        of_orders = dict(zip(verdicts.ORDERS, shares, strict=True))
        assert verdicts.won_by_first_place(of_orders) == first
    assert verdicts.won_by_first_place({verdicts.MODEL_FIRST: 1}) is None


def test_the_order_stands_at_the_end_of_a_part() -> None:
    parts = ("model-first", "overall-model-second", "grade")
    assert [verdicts.order_of(part) for part in parts] == [*verdicts.ORDERS, None]


def request(part: str) -> judging.JudgeRequest:
    key = judging.JudgmentKey("plain", 1, part)
    return judging.JudgeRequest(key, "p/judge", {}, (), lambda reply: GOOD)


GOOD = judging.Judgment({"m": 8}, 8, "Good.")


def two_rounds() -> judging.Judging:
    """Asks twice at once, then once more, over what came."""
    first = [request("a"), request("b")]
    judgments = yield first
    (overall,) = yield [request(f"overall of {sum(each is not None for each in judgments)}")]
    return [judging.Observation("m", "plain", 1, "judged", overall.score if overall else None)]


def test_each_round_is_sent_the_judgments_of_its_requests() -> None:
    known = {judging.JudgmentKey("plain", 1, part): GOOD for part in ("a", "b")}
    known[judging.JudgmentKey("plain", 1, "overall of 2")] = judging.Judgment({"m": 3}, 3, "")
    assert judging.replay(two_rounds(), known)[0].value == 3
    # A judgment that there is not is None.
    known = {judging.JudgmentKey("plain", 1, part): GOOD for part in ("a", "overall of 1")}
    assert judging.replay(two_rounds(), known)[0].value == 8


def test_a_lost_judgment_is_the_judges_failure_and_a_missing_answer_the_models() -> None:
    place = judging.JudgmentKey("plain", 2, "turn")
    unjudged = judging.judgment_observations(["m", "n"], place, None)
    assert [each.status for each in unjudged] == ["not_judged"] * 2
    (lost,) = judging.unjudged_observations(["m"], "plain", 2, Answer("empty"))
    assert (lost.status, lost.value) == ("empty", None)
    assert Transcript({}).answer("plain", 9).status == "not_asked"
