"""Diff of two model calls: differences in metadata, requests and replies, side by side."""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from methods.review.differences import Op, word_differences
from resources.calls_page.request_parts import (
    InlineImage,
    MessageParts,
    RequestParts,
    TruncatedText,
    cut,
    moment,
    usd,
)
from resources.llm.ledger.reading import LedgerEntry

MOST_COMPARED = 12_000
"""The number of characters at the beginning of each text that are compared."""
MOST_ON_PAGE = 60_000
"""The most characters that are compared on one HTML page. Further texts are shown without a diff."""

Pieces = list[tuple[Op, str]]


class DiffText(NamedTuple):
    """One of two texts, in pieces that the other text has or lacks, and the images in it."""

    label: str
    pieces: Pieces
    n_left_out: int
    pictures: list[InlineImage]


class TextComparison(NamedTuple):
    """Two corresponding texts. `compared` is False if the limit of the page was reached."""

    sides: tuple[DiffText, DiffText]
    equal: bool
    compared: bool


def compare_requests(
    a: tuple[LedgerEntry, RequestParts | None], b: tuple[LedgerEntry, RequestParts | None]
) -> tuple[list[TextComparison], list[TextComparison]]:
    """Compare two calls text by text.

    Args:
        a: The first call with its request.
        b: The second call with its request.

    Returns:
        Pairs of messages and schemas, and pairs of replies and reasoning texts.
    """
    messages = zip_longest(*([] if request is None else request.messages for _, request in (a, b)))
    requests = [(_of_message(first), _of_message(second)) for first, second in messages]
    schemas = [(request.schema if request else None) or "" for _, request in (a, b)]
    if any(schemas):
        requests.append((("schema", schemas[0], 0, []), ("schema", schemas[1], 0, [])))
    replies = [(_reply(a[0]), _reply(b[0]))]
    if a[0].reasoning or b[0].reasoning:
        replies.append((_reasoning(a[0]), _reasoning(b[0])))
    comparisons, n_left = [], MOST_ON_PAGE
    for first, second in (*requests, *replies):
        cuts = [cut(text, MOST_COMPARED, len(text) + rest) for _, text, rest, _ in (first, second)]
        is_equal = first[:3] == second[:3]
        n_left -= 0 if is_equal else sum(len(part.text) for part in cuts)
        comparisons.append(_pair(first, second, cuts, is_equal, n_left >= 0))
    return comparisons[: len(requests)], comparisons[len(requests) :]


_Text = tuple[str, str, int, list[InlineImage]]
"""Label, text, number of missing characters at its end, images."""


def _of_message(message: MessageParts | None) -> _Text:
    if message is None:
        return "", "", 0, []
    pictures = [part for part in message.parts if isinstance(part, InlineImage)]
    texts = [
        part.text if isinstance(part, TruncatedText) else f"[picture {part.image_id[:8]}]"
        for part in message.parts
    ]
    left_out = sum(part.n_left_out for part in message.parts if isinstance(part, TruncatedText))
    return message.role, "".join(texts), left_out, pictures


def _reply(entry: LedgerEntry) -> _Text:
    return "reply", entry.reply, entry.n_reply - len(entry.reply), []


def _reasoning(entry: LedgerEntry) -> _Text:
    text = entry.reasoning or ""
    return "reasoning", text, entry.n_reasoning - len(text), []


def _pair(a: _Text, b: _Text, cuts: list[TruncatedText], equal: bool, may: bool) -> TextComparison:
    both: Pieces = [("same", cuts[0].text)]
    if not equal and may:
        both = word_differences(cuts[0].text, cuts[1].text)
    sides = [
        DiffText(
            label,
            _only(both, leave_out) if may else [("same", part.text)],
            part.n_left_out,
            shown,
        )
        for (label, _, _, shown), part, leave_out in zip(
            (a, b), cuts, ("added", "removed"), strict=True
        )
    ]
    return TextComparison((sides[0], sides[1]), equal, may)


def _only(pieces: Pieces, leave_out: Op | str) -> Pieces:
    return [piece for piece in pieces if piece[0] != leave_out]


def facts(
    entries: Sequence[LedgerEntry], requests: Sequence[RequestParts | None]
) -> list[tuple[str, list[str], bool]]:
    """List the metadata of calls: model, tokens, cost, parameters and so on.

    Args:
        entries: The calls.
        requests: Their requests; None for an unreadable one.

    Returns:
        The name of each field, its value in each call, and whether the values differ.
    """
    rows = [(name, [value_of(entry) for entry in entries]) for name, value_of in _FACTS]
    parameters = [
        dict([*request.params, *request.others]) if request else {} for request in requests
    ]
    for name in sorted(set().union(*parameters)):
        rows.append((name, [values.get(name, "–") for values in parameters]))
    return [(name, values, len(set(values)) > 1) for name, values in rows]


def _number(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


_FACTS: tuple[tuple[str, Callable[[LedgerEntry], str]], ...] = (
    ("model", lambda entry: entry.model),
    ("model that the reply names", lambda entry: entry.answered_as or entry.model),
    ("provider", lambda entry: entry.provider),
    ("endpoint", lambda entry: entry.endpoint),
    ("prompt", lambda entry: entry.prompt_version),
    ("stage", lambda entry: entry.stage),
    ("outcome", lambda entry: entry.outcome),
    ("finish reason", lambda entry: entry.finish_reason),
    ("tokens of the request", lambda entry: f"{entry.prompt_tokens:,}"),
    ("of these for images", lambda entry: _number(entry.image_tokens)),
    ("tokens of the reply", lambda entry: f"{entry.completion_tokens:,}"),
    ("cost in US dollars", lambda entry: usd(entry.cost_usd)),
    ("seconds", lambda entry: "–" if entry.seconds is None else f"{entry.seconds:,.2f}"),
    ("attempts", lambda entry: _number(entry.attempts)),
    ("sent", lambda entry: entry.via),
    ("run", lambda entry: entry.run),
    ("time (UTC)", lambda entry: moment(entry.created_at)),
)
