"""Progress of a review: decisions by person, day and kind, and a forecast of its end."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from statistics import median
from typing import Any, Literal, NamedTuple, TypeVar

from methods.review.decisions import Decision

Effort = TypeVar("Effort")

RATE_DAYS = 7
"""The number of last days, including today, from which the rate of a forecast is computed."""
FEWEST_DAYS, FEWEST_DECISIONS = 2, 5
"""The fewest days with decisions, and the fewest decisions, for a rate: one hour's work does not
predict a day's."""
SHOWN_DAYS = 14
"""The number of last days for which decisions are listed by day."""


class DecisionEffort(NamedTuple):
    """The effort of one decision (also of a skip), without its texts.

    `kind` is empty if the item is unknown, `seconds` is None if the time spent is unknown, and
    `decided_at` is ISO 8601.
    """

    reviewer: str
    kind: str
    round: int
    verdict: str
    seconds: float | None
    decided_at: str


@dataclass(frozen=True)
class ReviewForecast:
    """The forecast of the day when all needed decisions will have been made.

    Attributes:
        needed: The number of needed decisions by round.
        rate: Decisions per day by round.
        days: The number of last days from which the rate is computed.
        end: The day; None if a round with needed decisions has too few decisions for a rate.
        lacks: By such a round: `none` for no decisions in these days, `decisions` for fewer than
            FEWEST_DECISIONS, `days` for decisions on fewer than FEWEST_DAYS days.
    """

    needed: Mapping[int, int]
    rate: Mapping[int, float]
    days: int
    end: date | None
    lacks: Mapping[int, Literal["none", "decisions", "days"]]


def day_of(time: str) -> str:
    """Return the UTC day of a time in ISO 8601. A time without an offset is in UTC."""
    parsed = datetime.fromisoformat(time)
    return (parsed.astimezone(UTC) if parsed.tzinfo else parsed).date().isoformat()


def by_person(work: Iterable[DecisionEffort], today: date) -> list[dict[str, Any]]:
    """Summarize the work of each person.

    Args:
        work: The decisions without their texts.
        today: The day in UTC.

    Returns:
        Rows of reviewer, n_decisions, n_skipped, n_edits, n_rejected, median_seconds (None if no time
        is known), last_day, and by_day: the decisions on each of the last SHOWN_DAYS days, the oldest
        first.
    """
    days = [(today - timedelta(days=back)).isoformat() for back in reversed(range(SHOWN_DAYS))]
    rows = []
    for reviewer, efforts in grouped(work, lambda each: each.reviewer).items():
        decided = [each for each in efforts if each.verdict != "skip"]
        per_day = Counter(day_of(each.decided_at) for each in decided)
        rows.append(
            {
                "reviewer": reviewer,
                **effort_of(efforts),
                "n_edits": sum(each.verdict == "edit" for each in decided),
                "n_rejected": sum(each.verdict == "reject" for each in decided),
                "last_day": max((day_of(each.decided_at) for each in efforts), default=None),
                "by_day": {day: per_day[day] for day in days},
            }
        )
    return rows


def by_kind(work: Iterable[DecisionEffort]) -> list[dict[str, Any]]:
    """Compute the median time per decision by kind: rows of kind, n_decisions, median_seconds."""
    decided = [each for each in work if each.verdict != "skip" and each.kind]
    groups = grouped(decided, lambda each: each.kind).items()
    return [
        {
            "kind": kind,
            "n_decisions": len(decisions),
            "median_seconds": effort_of(decisions)["median_seconds"],
        }
        for kind, decisions in groups
    ]


def by_day(work: Iterable[DecisionEffort]) -> list[dict[str, Any]]:
    """Summarize the work by day, reviewer, kind and round, for a spreadsheet.

    Returns:
        Rows of day, reviewer, kind, round, n_decisions, n_skipped, median_seconds.
    """
    groups = grouped(
        work, lambda each: (day_of(each.decided_at), each.reviewer, each.kind, each.round)
    )
    return [
        {**dict(zip(("day", "reviewer", "kind", "round"), key, strict=True)), **effort_of(efforts)}
        for key, efforts in groups.items()
    ]


def effort_of(efforts: Sequence[DecisionEffort] | Sequence[Decision]) -> dict[str, Any]:
    """Count decisions: n_decisions, n_skipped, median_seconds (None if no time is known)."""
    decided = [each for each in efforts if each.verdict != "skip"]
    seconds = [each.seconds for each in decided if each.seconds is not None]
    return {
        "n_decisions": len(decided),
        "n_skipped": len(efforts) - len(decided),
        "median_seconds": median(seconds) if seconds else None,
    }


def grouped(efforts: Iterable[Effort], key: Callable[[Effort], Any]) -> dict[Any, list[Effort]]:
    """Group values by a key, sorted by the key; values of a group keep their order."""
    groups: dict[Any, list[Effort]] = defaultdict(list)
    for effort in efforts:
        groups[key(effort)].append(effort)
    return dict(sorted(groups.items()))


def forecast(
    needed: Mapping[int, int], work: Iterable[DecisionEffort], today: date
) -> ReviewForecast:
    """Forecast when the needed decisions will have been made.

    The rate of a round is the number of its decisions per day, in the last RATE_DAYS days (including
    today) or since the review began, if that is shorter. Both rounds go on at the same time, so the end
    is that of the slower round. There is no forecast if a round has fewer than FEWEST_DECISIONS
    decisions, or decisions on fewer than FEWEST_DAYS days.

    Args:
        needed: The number of needed decisions by round.
        work: The decisions without their texts.
        today: The day in UTC.

    Returns:
        The rates and the end.
    """
    days_of_round: dict[int, Counter[date]] = {round: Counter() for round in needed}
    first = today
    for effort in work:
        if effort.verdict != "skip":
            day = date.fromisoformat(day_of(effort.decided_at))
            first = min(first, day)
            days_of_round.setdefault(effort.round, Counter())[day] += 1
    days = min(RATE_DAYS, (today - first).days + 1)
    since = today - timedelta(days=days - 1)
    recent = {
        round: [n for day, n in counts.items() if since <= day <= today]
        for round, counts in days_of_round.items()
    }
    rate = {round: sum(counts) / days for round, counts in recent.items()}
    n_left = {round: n for round, n in needed.items() if n}
    lacks = {round: _lack(recent[round]) for round in n_left}
    if any(lacks.values()):
        n_lacking = {round: lack for round, lack in lacks.items() if lack is not None}
        return ReviewForecast(needed, rate, days, None, n_lacking)
    days_left = max((math.ceil(n / rate[round]) for round, n in n_left.items()), default=0)
    return ReviewForecast(needed, rate, days, today + timedelta(days=min(days_left, 100_000)), {})


def _lack(counts: Sequence[int]) -> Literal["none", "decisions", "days"] | None:
    """The reason why daily numbers of decisions do not suffice for a rate; None if they do."""
    if not counts:
        return "none"
    if sum(counts) < FEWEST_DECISIONS:
        return "decisions"
    return "days" if len(counts) < FEWEST_DAYS else None


def expected_for_experts(
    n_open: int, expert: str, expert_share: float, n_past: int, n_to_expert: int
) -> float:
    """Estimate how many items with an open round 1 will go to an expert.

    If experts only decide disagreements, their share of past items is used.

    Args:
        n_open: The number of items whose round 1 is open.
        expert: The rule of their kind: `all`, `sample`, or disagreements only.
        expert_share: The share of the sample.
        n_past: The number of items whose round 1 is over.
        n_to_expert: The number of these that went to an expert.
    """
    if expert == "all":
        return float(n_open)
    disputed = n_to_expert / n_past if n_past else 0.0
    return n_open * (max(disputed, expert_share) if expert == "sample" else disputed)
