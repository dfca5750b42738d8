"""Limits on dropped inputs (rows, images, failed calls) of a step, and counts by reason."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from methods.markdown import table
from resources.llm.request import PASSING
from resources.llm.usage import Usage

FAILED_CALLS = (
    "Correct the model's server, its entry in models.yaml or the prompt (vlm-loom calls shows "
    "each call), "
    "and run again: what was answered is kept and costs nothing."
)
"""Advice on unanswered calls, which the next run repeats."""


def reasons(counts: Mapping[str, int]) -> dict[str, Any]:
    """Make metadata with a table of counts by reason, the most frequent first; empty without counts."""
    if not counts:
        return {}
    lines = table(("reason", "count"), [(why, str(count)) for why, count in _ordered(counts)])
    return {"reasons": dg.MetadataValue.md("\n".join(lines))}


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts by reason as text, the most frequent first, such as "3 timeout, 1 empty"."""
    return ", ".join(f"{count} {reason}" for reason, count in _ordered(counts))


def names_with_reasons(lost: Mapping[str, str]) -> str:
    """List dropped inputs as "name (reason); name (reason)"."""
    return "; ".join(f"{name} ({why.rstrip('.')})" for name, why in lost.items())


def exceeds_drop_limit(n_lost: int, n_all: int, max_share: float) -> bool:
    """Tell whether too many inputs were dropped.

    Args:
        n_lost: The number of dropped inputs.
        n_all: The number of all inputs.
        max_share: The largest share that may be dropped, 0 to 1.
    """
    # Shares are compared, not numbers: 29 / 100 == 0.29, but 0.29 * 100 < 29.
    return n_lost > 0 and n_lost / n_all > max_share


def is_retry_worthwhile(lost: Mapping[str, int], n_all: int, max_share: float) -> bool:
    """Tell whether a retry some minutes later may drop few enough inputs.

    Args:
        lost: The number of dropped inputs by reason.
        n_all: The number of all inputs.
        max_share: The largest share that may be dropped, 0 to 1.

    Returns:
        True if there are transient failures of servers, and the other drops alone are within the limit.
    """
    of_servers = PASSING & lost.keys()
    # Requests that were not sent, because their server had failed too often, count as its failures.
    excused = {*of_servers, *(("given_up",) if of_servers else ())}
    lasting = sum(number for reason, number in lost.items() if reason not in excused)
    return bool(of_servers) and not exceeds_drop_limit(lasting, n_all, max_share)


def require_few_lost(
    name: str,
    things: str,
    lost: Mapping[str, int],
    n_all: int,
    max_share: float,
    usage: Usage | None = None,
    todo: str = FAILED_CALLS,
) -> None:
    """Fail the step if too many of its inputs were dropped, so that the table keeps its earlier rows.

    Args:
        name: The table, for the message.
        things: The name of the inputs in the plural, for the message.
        lost: The number of dropped inputs by reason.
        n_all: The number of all inputs.
        max_share: The largest share that may be dropped, 0 to 1.
        usage: The usage of the models; its `advice`, if any, replaces `todo` in the message.
        todo: Advice on what to do, for the message.

    Raises:
        dg.Failure: More than `max_share` was dropped.
    """
    n_lost = sum(lost.values())
    if not exceeds_drop_limit(n_lost, n_all, max_share):
        return
    sentence = (
        f"{name} keeps its earlier rows: {n_lost} of {n_all} {things} were lost ({in_words(lost)}), "
        f"and at most {max_share:.0%} may be."
    )
    raise dg.Failure(
        f"{sentence} {(usage and usage.advice) or todo}",
        metadata={"lost": n_lost, "of": n_all, "limit": max_share, **reasons(lost)},
        allow_retries=is_retry_worthwhile(lost, n_all, max_share),
    )


def _ordered(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
