"""Running a `judge` generator on judgments that there are."""

from methods.evaluation.asking import Answer, Transcript
from methods.evaluation.judging import (
    JudgeRequest,
    Judging,
    Judgment,
    JudgmentKey,
    Observation,
    judgment_observations,
    replay,
    unjudged_observations,
)


def request(part: str) -> JudgeRequest:
    return JudgeRequest(JudgmentKey("plain", 1, part), "p/judge", {}, (), lambda reply: GOOD)


GOOD = Judgment({"m": 8}, 8, "Good.")


def two_rounds() -> Judging:
    """Asks twice at once, then once more, over what came."""
    first = [request("a"), request("b")]
    judgments = yield first
    (overall,) = yield [request(f"overall of {sum(each is not None for each in judgments)}")]
    return [Observation("m", "plain", 1, "judged", overall.score if overall else None)]


def test_each_round_is_sent_the_judgments_of_its_requests() -> None:
    known = {JudgmentKey("plain", 1, part): GOOD for part in ("a", "b")}
    known[JudgmentKey("plain", 1, "overall of 2")] = Judgment({"m": 3}, 3, "")
    assert replay(two_rounds(), known)[0].value == 3
    # A judgment that there is not is None.
    known = {JudgmentKey("plain", 1, part): GOOD for part in ("a", "overall of 1")}
    assert replay(two_rounds(), known)[0].value == 8


def test_a_lost_judgment_is_the_judges_failure_and_a_missing_answer_the_models() -> None:
    place = JudgmentKey("plain", 2, "turn")
    assert [each.status for each in judgment_observations(["m", "n"], place, None)] == [
        "not_judged"
    ] * 2
    (lost,) = unjudged_observations(["m"], "plain", 2, Answer("empty"))
    assert (lost.status, lost.value) == ("empty", None)
    assert Transcript({}).answer("plain", 9).status == "not_asked"
