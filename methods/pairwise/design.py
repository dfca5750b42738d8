"""Selection of pairwise comparisons (active sampling): all pairs, all models against one opponent, or
adaptively only the pairs that still decide the ranking.

A question compares two models on a unit (a turn of an item). It is asked in both orders, which takes
two calls. A design is a generator without I/O: it yields questions that can be asked at the same time,
and is sent the judged outcomes of each question. The adaptive design works in rounds:

    1.  Ask every pair on `least` units.
    n.  Rate the models by all outcomes so far. A pair of neighbours in the ranking is open if its
        Holm-adjusted p value is above alpha_n = alpha / (n (n + 1)). Ask each open pair on further
        units: half as many as it had so far, but at least `least`.

It ends if no pair is open, if the open pairs have no units left, or if the budget is used. All alpha_n
sum to alpha, so repeated testing does not raise the rate of false orders. Pairs that are far apart are
not asked again: with k models, about 2 / k of all pairs are neighbours. The order of units is a hash of
seed, pair and unit, so that different pairs begin with different units.
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
"""The significance level of the tests between neighbours in the ranking, of all rounds together."""
N_RESAMPLES = 200
"""Bootstrap resamples in each round. Few suffice, because only standard deviations are computed."""


class ComparisonUnit(NamedTuple):
    """The unit of a comparison: a turn of an item, with the item's cluster."""

    item_id: str
    turn: int
    cluster: str


class Matchup(NamedTuple):
    """Two models to compare on a unit; their names are in alphabetical order."""

    first: str
    second: str
    unit: ComparisonUnit


class MatchupOutcomes(NamedTuple):
    """The outcomes of a question: the first model's share of the win in each order that was judged, and
    the number of calls.
    """

    outcomes: tuple[float, ...]
    n_calls: int


@dataclass(frozen=True)
class DesignOutcome:
    """The end of a design: the number of its calls, the number of calls for all pairs on all units, the
    number of rounds, and why it ended.
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
    """List all pairs of models, each in alphabetical order."""
    return list(combinations(sorted(models), 2))


def against(models: Collection[str], opponent: str) -> list[tuple[str, str]]:
    """Pair each model with one opponent.

    Args:
        models: The names of the models; the opponent may be one of them.
        opponent: The name of the opponent.

    Returns:
        The pairs, each in alphabetical order, sorted by model.
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
        budget: The most calls; each comparison takes two. All pairs get the same units first. None for
            no limit.
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
) -> Design:
    """Ask only the pairs that still decide the ranking, in rounds.

    The same outcomes give the same questions, so an interrupted run repeats no calls.

    Args:
        models: The names of the models.
        units: The units to compare answers to.
        budget: The most calls, of which each comparison takes two; None for no limit.
        seed: The seed of the order of units of each pair.
        least: The number of units of each pair in the first round.

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
        # Pairs take turns, so that no pair is left out if the budget ends.
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
        level = ALPHA / (n_rounds * (n_rounds + 1))
        unresolved = open_neighbours(models, battles, level, seed=seed)
        if not unresolved:
            return DesignOutcome(n_calls, n_all, n_rounds, RESOLVED)
        todo = {pair: max(least, (len(units) - len(remaining[pair])) // 2) for pair in unresolved}


def open_neighbours(
    models: Collection[str], battles: Sequence[Battle], alpha: float, *, seed: int
) -> list[tuple[str, str]]:
    """List the open pairs: neighbours in the ranking that do not differ significantly.

    If no chain of battles connects all models, all pairs of models in different parts are open.
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
