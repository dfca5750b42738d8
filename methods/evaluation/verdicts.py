"""Verdict of an LLM judge on two answers: parsing of its reply, and shares of wins (ConvBench, 4.1).

The released scorer searches for a phrase and counts replies without it as a loss, ties included. Here
one rule parses a reply or raises a parse error, and the judge is asked again.
"""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from methods.evaluation.judging import Judgment
from methods.model_text import without_reasoning
from methods.prompts.parsing import ParseError, object_schema
from methods.prompts.placeholders import required_explanation
from methods.prompts.reply_objects import labelled, labelled_text, objects_in, text_outside
from methods.unicode_forms import in_form

Winner = Literal["A", "B", "tie"]
REASON, WINNER = "reason", "winner"
VERDICT_SCHEMA = object_schema(
    {REASON: {"type": "string"}, WINNER: {"type": "string", "enum": ["A", "B", "tie"]}}
)
"""The reason is first, so that the winner is generated after it."""
MODEL_FIRST, MODEL_SECOND = "model-first", "model-second"
ORDERS = (MODEL_FIRST, MODEL_SECOND)
"""The parts of a pair of judgments: the model's answer is shown as Assistant A's, or as B's."""
LOSS, TIE, WIN = 0.0, 0.5, 1.0
"""The value of a comparison for the model."""

_NAME = re.compile(r"(?:(?:the\s+)?(?:assistant|response|answer|model|option)\s*)?([ab])")
_TIES = ("tie", "a tie", "tied", "draw", "a draw", "equal", "both", "neither", "none")
_FIRST_WORD = re.compile(rf"(?:{WINNER}\W*)?(?P<winner>{'|'.join(_TIES)}|{_NAME.pattern})(?!\w)")
"""The winner that begins a value, also after a second label, as in "The winner: **Winner:** A"."""


class Verdict(NamedTuple):
    """The winner and the reason for it."""

    winner: Winner
    reason: str


def read_verdict(reply: str) -> Verdict:
    """Parse the verdict in a judge's reply.

    A JSON object with a winner counts at the beginning or the end of the reply, also a nested one. One
    with prose before and after it is a quotation and is refused. Without an object, `winner: A` counts
    at the start of a line, outside quotation marks. All winners in a reply must be the same. If the
    object has no reason, the text around it is the reason. A winner is A or B, in any case, in quotes
    or brackets or with a word before it (Assistant A, Response B); or a tie: tie, draw, equal, both,
    neither. Anything else is refused, also `C`, which does not mean the same to all judges. Raises
    ParseError: `no_winner`, `not_a_winner`, `two_winners`, `quoted_object`, `no_explanation`,
    `placeholder`.
    """
    objects = objects_in(reply, (WINNER,), (REASON,))
    with_winner = [found for found in objects if WINNER in found.values]
    in_text: list[Winner] = []
    if with_winner:
        reason = with_winner[-1].text_or_around(REASON)
        verdicts = [found.values[WINNER] for found in with_winner]
        in_text = _winners_in_text(labelled(text_outside(objects), WINNER, anywhere=True))
    else:
        text = without_reasoning(reply).answer
        verdicts = labelled(text, WINNER)
        reason = labelled_text(text, REASON, WINNER)
    if not verdicts:
        raise ParseError("no_winner", f'The reply has no "{WINNER}".')
    winners = [*map(_winner, verdicts), *in_text]
    if len(set(winners)) > 1:
        raise ParseError("two_winners", f"The reply has the winners {', '.join(winners[:5])}.")
    return Verdict(winners[0], required_explanation(reason))


def read_comparison(reply: str, dimension: str, order: str) -> Judgment:
    """Read the judgment in a reply: the model's share of the win, with the reason. Raises ParseError as
    `read_verdict` does.
    """
    verdict = read_verdict(reply)
    share = verdict_share(verdict.winner, order)
    return Judgment({dimension: share}, share, verdict.reason)


def verdict_share(winner: Winner, order: str) -> float:
    """Convert a verdict into the model's share of a win.

    Args:
        winner: The place that won, or a tie.
        order: The order that the answers were shown in.

    Returns:
        `WIN`, `TIE` or `LOSS`.
    """
    if winner == "tie":
        return TIE
    return WIN if winner == place_of_model(order) else LOSS


def winner_of(value: float, order: str) -> Winner:
    """Convert the model's share of a win into the place that won.

    Args:
        value: `WIN`, `TIE` or `LOSS`.
        order: The order that the answers were shown in.

    Returns:
        The place, or a tie.
    """
    if value == TIE:
        return "tie"
    model = place_of_model(order)
    return model if value == WIN else "B" if model == "A" else "A"


def order_of(part: str) -> str | None:
    """The order at the end of the part of a judgment; None for a part without an order."""
    return next((order for order in ORDERS if part.endswith(order)), None)


def won_by_first_place(shares: Mapping[str, float]) -> float | None:
    """Return the first position's share of a win from the model's share in each order; None if an order
    is not judged.

    The models' quality cancels out: a judge without position bias gives 0.5.
    """
    if len(shares) < len(ORDERS):
        return None
    return (shares[MODEL_FIRST] + WIN - shares[MODEL_SECOND]) / len(ORDERS)


def place_of_model(order: str) -> Literal["A", "B"]:
    """The letter of the model's answer in an order; a part may have words before the order."""
    return "A" if order.endswith(MODEL_FIRST) else "B"


def _winner(value: object) -> Winner:
    bare = _bare(value)
    if bare in _TIES:
        return "tie"
    name = _NAME.fullmatch(bare)
    if name is None:
        raise ParseError("not_a_winner", f"The winner is {str(value)[:40]!r}, not A, B or tie.")
    return "A" if name[1] == "a" else "B"


def _winners_in_text(values: list[object]) -> list[Winner]:
    """The winners that begin values of the text around the objects, such as "A because it is right"."""
    bare = [_bare(value) for value in values]
    matches = filter(None, map(_FIRST_WORD.match, bare))
    return [_winner(match["winner"]) for match in matches]


def _bare(value: object) -> str:
    text = in_form("NFKC", value) if isinstance(value, str) else ""
    return " ".join(text.strip().strip("\"'“”*_[]().! \n").casefold().split())
