"""Pairwise comparison by an LLM judge: requests to compare two models' answers to a turn, and outcomes.

The answers are shown as those of Assistants A and B, in both orders (position bias), one request per
order. The judge does not see the models' names. Earlier turns are shown with each model's own answers.
`methods/evaluation/verdicts.py` has the format of verdicts.

Outcomes are counted in two ways, called forms. If one model gave no answer, the comparison does not
count in the form `judged`; in the form `floor` that model loses (a tie if neither answered). If the
judge's call failed, the comparison counts in neither.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from methods.evaluation.asking import PLAIN, Answer, Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.judged_turns import numbered_question
from methods.evaluation.judging import JudgeRequest, JudgmentKey
from methods.evaluation.verdicts import ORDERS, VERDICT_SCHEMA, place_of_model, read_comparison
from methods.pairwise.battles import FIRST, SECOND, TIE, WINNERS, Battle
from methods.pairwise.design import ComparisonUnit
from methods.prompts.messages import with_image_numbers

COMPARE_PROMPT = "pairwise/compare"
COMPARE_VERSION = "pairs@3"
WITHOUT_REFERENCE = "without-reference"
PREFERENCE = "preference"
"""The score of a judgment: the first model's share of the win (1, 0.5 or 0)."""
REFERENCE = "baseline:reference"
"""The opponent whose answers are the release's references."""

Status = Literal["judged", "not_judged", "no_answer_a", "no_answer_b", "no_answer"]
"""`not_judged`: the judge gave no verdict. `no_answer_a`, `no_answer_b`, `no_answer`: Assistant A, B or
neither gave an answer, respectively."""
ArenaWinner = Literal["model_a", "model_b", "tie"]
_ARENA: Mapping[float, ArenaWinner] = {FIRST: "model_a", SECOND: "model_b", TIE: "tie"}
_FLOOR = {"no_answer_a": 0.0, "no_answer_b": 1.0, "no_answer": 0.5}
JUDGED, FLOOR = "judged", "floor"
FORMS = (JUDGED, FLOOR)
"""`judged`: only comparisons with a verdict. `floor`: also comparisons with missing answers."""


class ArenaComparison(NamedTuple):
    """One comparison in one order, in the format of Chatbot Arena: `model_a` was shown first."""

    item_id: str
    turn: int
    cluster: str
    model_a: str
    model_b: str
    status: Status
    winner: ArenaWinner | None = None
    style: tuple[float, ...] = ()

    def outcome(self, form: str) -> float | None:
        """Return model_a's share of the win in the form `judged` or `floor`; None if the comparison
        does not count in it.
        """
        if self.winner is not None:
            return WINNERS[self.winner]
        return _FLOOR.get(self.status) if form == FLOOR else None


def battles_in(compared: Iterable[ArenaComparison], form: str) -> list[Battle]:
    """Select the comparisons that count in a form, as battles.

    Args:
        compared: The comparisons.
        form: `judged` or `floor`.

    Returns:
        A battle for each comparison that counts. Only the form `judged` has differences of style.
    """
    rows = [(comparison, comparison.outcome(form)) for comparison in compared]
    return [
        Battle(
            comparison.model_a,
            comparison.model_b,
            outcome,
            comparison.cluster,
            style=comparison.style if form == JUDGED else (),
        )
        for comparison, outcome in rows
        if outcome is not None
    ]


def units_of(items: Iterable[Item]) -> list[ComparisonUnit]:
    """List the turns that models answer; reference turns are left out."""
    return [
        ComparisonUnit(item.item_id, turn.turn, item.cluster)
        for item in items
        for turn in item.turns
        if turn.given is None
    ]


def references_as_answers(item: Item) -> Transcript:
    """Make a transcript with the item's references as answers, to compare models with them."""
    return Transcript(
        {
            (PLAIN, turn.turn): Answer("answered", turn.reference)
            for turn in item.turns
            if turn.reference is not None
        }
    )


def unanswered(first: Answer, second: Answer, order: str) -> Status | None:
    """Say why a pair of answers cannot be judged.

    Args:
        first: The answer of the first model.
        second: The answer of the second model.
        order: The order in which the judge is shown the answers.

    Returns:
        The status, which names the place (A or B) without an answer; None if both have an answer.
    """
    lacking = [first.text is None, second.text is None]
    if place_of_model(order) == "B":
        lacking.reverse()
    if not any(lacking):
        return None
    return "no_answer" if all(lacking) else "no_answer_a" if lacking[0] else "no_answer_b"


def requests(
    item: Item, number: int, first: Transcript, second: Transcript, *, reference: bool
) -> list[JudgeRequest]:
    """Make the judge requests about a turn, one for each order of the two answers.

    Args:
        item: The item.
        number: The number of the turn, which both models answered.
        first: The transcript of the first model; a judgment gives its share of the win.
        second: The transcript of the second model.
        reference: Whether the judge is shown the turn's reference.

    Returns:
        A request for each order.
    """
    turn = next(turn for turn in item.turns if turn.turn == number)
    shown = sum(len(turn.image_positions) for turn in item.turns if turn.turn <= number)
    return [
        JudgeRequest(
            JudgmentKey(PLAIN, number, order),
            COMPARE_PROMPT,
            {
                "earlier": list(_earlier(item, number, sides)),
                "instruction": numbered_question(turn),
                "reference": with_image_numbers(turn.reference or "") if reference else "",
                **_texts(turn, sides),
            },
            item.image_ids[:shown],
            partial(read_comparison, dimension=PREFERENCE, order=order),
            VERDICT_SCHEMA,
        )
        for order in ORDERS
        for sides in [(first, second) if place_of_model(order) == "A" else (second, first)]
    ]


def _earlier(
    item: Item, number: int, sides: Sequence[Transcript]
) -> Iterator[dict[str, str | None]]:
    for turn in item.turns:
        if turn.turn < number:
            reference = None if turn.given is None else with_image_numbers(turn.given)
            yield {
                "instruction": numbered_question(turn),
                "given": reference,
                **_texts(turn, sides),
            }


def _texts(turn: Turn, sides: Sequence[Transcript]) -> dict[str, str]:
    """The answers of Assistants A and B to a turn."""
    return {
        name: with_image_numbers(side.answer(PLAIN, turn.turn).text or "")
        for name, side in zip("ab", sides, strict=True)
    }


def arena_winner(share: float, order: str) -> ArenaWinner:
    """Return the winner of a comparison by the position in which its answer was shown.

    Args:
        share: The first model's share of the win: 1, 0.5 or 0.
        order: The order in which the answers were shown.

    Returns:
        `model_a` if the answer that was shown first won, `model_b` for the second one, or `tie`.
    """
    return _ARENA[first_place_share(share, order)]


def first_place_share(share: float, order: str) -> float:
    """Compute the share of the win of the answer that was shown first, for position bias.

    Args:
        share: The first model's share of the win: 1, 0.5 or 0.
        order: The order in which the answers were shown.

    Returns:
        1, 0.5 or 0.
    """
    return share if place_of_model(order) == "A" else 1 - share
