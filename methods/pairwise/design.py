"""Which comparisons are asked: all, all against one, or only those that still decide the order.

A question is two models and a unit (a turn of an item); it is asked in both orders, two calls. A design
is a generator without I/O: it yields questions that can be asked at the same time, and is sent for each
the outcomes of its orders, of those that were judged. The adaptive one goes in rounds:

    1.  every pair on `least` units each
    n.  rate what there is; a pair of neighbours in the order is open while its p, after Holm over the
        neighbours, is above alpha_n = alpha / (n (n + 1)); each open pair is asked on half as many
        units again, `least` or more

until no neighbours are open, nothing is left to ask of those that are, or the budget is used. The sum
of all alpha_n is alpha, so that looking often makes no order out of noise. Pairs that are far apart are
asked no more: with k models, about 2 / k of all comparisons remain while the order stands. A unit is
drawn by a hash of seed, pair and unit, so that each pair has other ones first.
"""

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from methods.evaluation.statistics.comparisons import holm
from methods.ids import content_id
from methods.pairwise.battles import Battle, battles_of
from methods.pairwise.ratings import rate

ORDERS = 2
ALPHA = 0.05
N_RESAMPLES = 200
"""Resamples in each round: the spread of a difference is all that is taken from them."""


class ComparisonUnit(NamedTuple):
    """The unit of a comparison: a turn of an item, with the item's cluster."""

    item_id: str
    turn: int
    cluster: str


class Matchup(NamedTuple):
    """Two models, in order of name, on a unit."""

    first: str
    second: str
    unit: ComparisonUnit


class MatchupOutcomes(NamedTuple):
    """The outcomes of a question for each order that has one, for its first model, and the calls
    that it took.
    """

    outcomes: tuple[float, ...]
    n_calls: int


@dataclass(frozen=True)
class DesignOutcome:
    """The end of a design: its calls, the calls of all pairs on all units, its rounds, and why it
    ended.
    """

    n_calls: int
    n_calls_of_all: int
    n_rounds: int
    why: str


RESOLVED = "the order is resolved"
BUDGET = "the budget is used"
EXHAUSTED = "all comparisons that could decide are asked"
ALL_ASKED = "all comparisons are asked"

Design = Generator[list[Matchup], Sequence[MatchupOutcomes], DesignOutcome]


def every_pair(models: Collection[str]) -> list[tuple[str, str]]:
    """All pairs of models, each in order of name."""
    return list(combinations(sorted(models), 2))


def against(models: Collection[str], opponent: str) -> list[tuple[str, str]]:
    """Pair each model with one opponent.

    Args:
        models: The names of the models; the opponent may be one of them.
        opponent: The name of the opponent.

    Returns:
        The pairs, each in order of name, sorted by model.
    """
    return [
        (min(model, opponent), max(model, opponent))
        for model in sorted(models)
        if model != opponent
    ]


def ask_all(
    pairs: Sequence[tuple[str, str]],
    units: Sequence[ComparisonUnit],
    *,
    budget: int | None,
    seed: int,
) -> Design:
    """Ask every pair on every unit, in one round.

    Args:
        pairs: The pairs of models.
        units: The units to compare answers to.
        budget: The most calls, of which each comparison takes two; every pair has the same units. None
            for no limit.
        seed: The seed of the order of units.

    Returns:
        A generator: it yields the comparisons to make, is sent their outcomes, and returns how it
        ended.
    """
    ordered = sorted(units, key=lambda unit: content_id(seed, *unit))
    questions = [Matchup(*pair, unit) for unit in ordered for pair in pairs]
    n_all = ORDERS * len(questions)
    matchups = questions if budget is None else questions[: budget // ORDERS]
    outcomes = yield matchups
    why = ALL_ASKED if len(matchups) == len(questions) else BUDGET
    return DesignOutcome(sum(outcome.n_calls for outcome in outcomes), n_all, 1, why)


def ask_adaptively(
    models: Collection[str],
    units: Sequence[ComparisonUnit],
    *,
    budget: int | None,
    seed: int,
    least: int = 4,
    alpha: float = ALPHA,
) -> Design:
    """Ask only the pairs that still decide the order of all models, in rounds.

    The same outcomes give the same questions, so that an interrupted run asks nothing twice.

    Args:
        models: The names of the models.
        units: The units to compare answers to.
        budget: The most calls, of which each comparison takes two; None for no limit.
        seed: The seed of the order of units of each pair.
        least: How many units each pair is asked about in the first round.
        alpha: The level of the tests by which neighbours in the order are told apart.

    Returns:
        A generator: it yields the comparisons of a round, is sent their outcomes, and returns how it
        ended.
    """
    pairs = every_pair(models)
    remaining = {
        pair: sorted(units, key=lambda unit: content_id(seed, *pair, *unit), reverse=True)
        for pair in pairs
    }
    n_all = ORDERS * len(pairs) * len(units)
    battles: list[Battle] = []
    n_calls = n_rounds = 0
    todo = {pair: least for pair in pairs}
    while True:
        # A unit of each pair in turn, so that a budget that ends cuts no pair off.
        wanted = {pair: min(number, len(remaining[pair])) for pair, number in todo.items()}
        questions = [
            Matchup(*pair, remaining[pair].pop())
            for turn in range(max(wanted.values(), default=0))
            for pair, number in wanted.items()
            if turn < number
        ]
        if not questions:
            return DesignOutcome(n_calls, n_all, n_rounds, EXHAUSTED)
        if budget is not None:
            questions = questions[: (budget - n_calls) // ORDERS]
            if not questions:
                return DesignOutcome(n_calls, n_all, n_rounds, BUDGET)
        n_rounds += 1
        for question, answered in zip(questions, (yield questions), strict=True):
            n_calls += answered.n_calls
            battles += [
                Battle(question.first, question.second, outcome, question.unit.cluster)
                for outcome in answered.outcomes
            ]
        level = alpha / (n_rounds * (n_rounds + 1))
        unresolved = open_neighbours(models, battles, level, seed=seed)
        if not unresolved:
            return DesignOutcome(n_calls, n_all, n_rounds, RESOLVED)
        todo = {pair: max(least, (len(units) - len(remaining[pair])) // 2) for pair in unresolved}


def open_neighbours(
    models: Collection[str], battles: Sequence[Battle], alpha: float, *, seed: int
) -> list[tuple[str, str]]:
    """Pairs of neighbours in the order so far that may as well be in the other order.

    Where battles connect not all models, every pair of two parts is open.
    """
    rated = rate(battles_of(battles, models), seed=seed, n_resamples=N_RESAMPLES)
    ratings = rated.ratings
    apart = [
        (first.model, second.model)
        for first, second in combinations(ratings, 2)
        if first.part != second.part
    ]
    if apart:
        return apart
    order = sorted(range(len(ratings)), key=lambda place: -(ratings[place].rating.value or 0.0))
    neighbours = {tuple(sorted(pair)) for pair in zip(order, order[1:], strict=False)}
    compared = [
        comparison
        for comparison in rated.comparisons
        if (comparison.first, comparison.second) in neighbours
    ]
    adjusted = holm([comparison.p_value for comparison in compared])
    return [
        (ratings[comparison.first].model, ratings[comparison.second].model)
        for comparison, p in zip(compared, adjusted, strict=True)
        if p is None or p > alpha
    ]
