"""Designs: which comparisons are asked, and how few find a planted order."""

import math
import random

import pytest

from methods.pairwise import design
from methods.pairwise.battles import Battle, battles_of
from methods.pairwise.ratings import rate

MODELS = [f"model-{number}" for number in range(6)]


def units(n):
    return [design.ComparisonUnit(f"item-{number}", 1, f"item-{number}") for number in range(n)]


def driven(design, judge):
    """How a design ended, and the questions of each round; `judge` has an outcome of a question."""
    rounds, battles = [], []
    try:
        asked = next(design)
        while True:
            rounds.append(asked)
            found = [judge(question) for question in asked]
            battles += [
                Battle(question.first, question.second, outcome, question.unit.cluster)
                for question, each in zip(asked, found, strict=True)
                for outcome in each.outcomes
            ]
            asked = design.send(found)
    except StopIteration as end:
        return end.value, rounds, battles


def adaptively(n, judge, seed=0, budget=None, models=MODELS):
    return driven(design.ask_adaptively(models, units(n), budget=budget, seed=seed), judge)


def planted(gap, seed):
    """A judge for whom each model is better than the next one by `gap` logits; both orders alike."""
    generator = random.Random(seed)

    def judge(question):
        places = [MODELS.index(name) for name in (question.first, question.second)]
        chance = 1 / (1 + math.exp(-gap * (places[1] - places[0])))
        outcomes = tuple(float(generator.random() < chance) for _ in range(2))
        return design.MatchupOutcomes(outcomes, 2)

    return judge


@pytest.mark.parametrize("seed", range(2))
def test_the_planted_order_is_found_with_less_than_half_the_calls(seed):
    shuffled = random.Random(seed).sample(MODELS, len(MODELS))
    end, _, battles = adaptively(100, planted(1.0, seed), seed, models=shuffled)
    ratings = rate(battles_of(battles, MODELS), seed=0, n_resamples=100).ratings
    ratings.sort(key=lambda each: -each.rating.value)
    assert [each.model for each in ratings] == MODELS
    assert end.n_calls_of_all == 2 * 15 * 100
    assert end.n_calls == len(battles) < 0.5 * end.n_calls_of_all
    assert end.why in (design.RESOLVED, design.EXHAUSTED)


def test_neighbours_get_the_calls_and_pairs_far_apart_do_not_and_no_question_comes_twice():
    _, rounds, battles = adaptively(100, planted(1.0, 0))
    asked = [(battle.first, battle.second) for battle in battles]
    assert asked.count(("model-0", "model-5")) == 2 * 4
    assert asked.count(("model-2", "model-3")) > 3 * 2 * 4
    assert len(rounds[0]) == 15 * 4
    questions = [question for each in rounds for question in each]
    assert len(set(questions)) == len(questions)


def test_models_that_are_equal_are_asked_of_neighbours_alone_and_never_resolved():
    end, _, battles = adaptively(40, lambda question: design.MatchupOutcomes((0.5, 0.5), 2))
    assert end.why == design.EXHAUSTED
    assert end.n_calls < 0.5 * end.n_calls_of_all
    assert len(battles) == end.n_calls
    # An answer that failed decides without a judge, which costs no call.
    end, _, _ = adaptively(10, lambda question: design.MatchupOutcomes((1.0, 1.0), 0))
    assert end.n_calls == 0
    # Lost judgments end all the same.
    end, _, battles = adaptively(5, lambda question: design.MatchupOutcomes((), 2))
    assert (battles, end.why, end.n_calls) == ([], design.EXHAUSTED, end.n_calls_of_all)


def test_a_budget_is_kept_and_cuts_no_pair_off():
    end, rounds, battles = adaptively(100, planted(1.0, 0), budget=61)
    assert (end.n_calls, end.why, len(rounds)) == (60, design.BUDGET, 1)
    assert {(battle.first, battle.second) for battle in battles} == set(design.every_pair(MODELS))


def test_the_same_outcomes_ask_the_same_and_another_seed_asks_others():
    asked = [adaptively(50, planted(1.0, 0), seed)[1] for seed in (1, 1, 2)]
    assert asked[0] == asked[1]
    assert asked[0][0] != asked[2][0]


@pytest.mark.parametrize(
    ("budget", "n_units", "end"),
    [(None, 3, (90, 90, 1, design.ALL_ASKED)), (60, 2, (60, 90, 1, design.BUDGET))],
)
def test_all_pairs_are_asked_on_every_unit_or_on_the_same_units_of_a_budget(budget, n_units, end):
    asking = design.ask_all(design.every_pair(MODELS), units(3), budget=budget, seed=0)
    found, (asked,), _ = driven(asking, planted(1.0, 0))
    assert len(set(asked)) == 15 * n_units
    assert len({question.unit for question in asked}) == n_units
    assert (found.n_calls, found.n_calls_of_all, found.n_rounds, found.why) == end
    # Against one opponent each model is asked once.
    assert design.against(["c", "a", "b"], "b") == [("a", "b"), ("b", "c")]


def test_each_round_is_tested_at_a_level_of_its_own_and_all_together_at_alpha(monkeypatch):
    levels = []

    def open_neighbours(models, battles, alpha, *, seed):
        levels.append(alpha)
        return design.every_pair(models)

    monkeypatch.setattr(design, "open_neighbours", open_neighbours)
    adaptively(40, planted(0, 1), models=MODELS[:2])
    assert levels == [0.05 / (n * (n + 1)) for n in range(1, len(levels) + 1)] and len(levels) > 2


def test_intervals_hold_the_planted_ratings_though_the_design_looked_at_the_outcomes():
    held = 0
    for seed in range(10):
        _, _, battles = adaptively(60, planted(0.5, seed), seed)
        rated = rate(battles_of(battles, MODELS), seed=seed, n_resamples=200).ratings
        middle = sum(each.rating.value for each in rated) / len(MODELS)
        for each in rated:
            # 0.5 logits from one model to the next are 87 points.
            steps = (len(MODELS) - 1) / 2 - MODELS.index(each.model)
            true = middle + steps * 0.5 * 400 / math.log(10)
            held += each.rating.ci_low <= true <= each.rating.ci_high
    # Of 60 intervals of 95 % 57; 52 or fewer would be as likely as 1 %.
    assert held > 52
