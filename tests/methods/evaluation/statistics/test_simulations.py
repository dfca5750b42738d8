"""What the statistics are for, on simulated benchmarks whose truth is known.

Scores are those of 110 dialogues of 15 turns (MMDU's size) on its scale 10..100. What makes a dialogue
or a turn hard is hard for every model; a model has a smaller deviation of its own on each of them.
"""

import numpy as np
from scipy import stats

from methods.evaluation.metrics import ScoredObservation
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.ranking import compare
from methods.evaluation.scoring import score_rows
from methods.evaluation.statistics.intervals import (
    difference_estimates,
    p_values,
    score_estimates,
)
from methods.evaluation.statistics.resampling import (
    cluster_totals,
    paired_totals,
)

N_DIALOGUES, N_TURNS = 110, 15
CLUSTERS = np.repeat(np.arange(N_DIALOGUES), N_TURNS)
N_SIMULATIONS = 200

SHARED_DIALOGUE, SHARED_TURN = 10.0, 8.0
OWN_DIALOGUE, OWN_TURN = 1.0, 5.0
"""Standard deviations in points: what all models share, and what each has for itself."""


def scores(means, generator) -> np.ndarray:
    """Scores of models with these true means, models x turns, in steps of 10 as judges give them."""
    shape = (len(means), N_DIALOGUES, N_TURNS)
    points = (
        np.array(means)[:, None, None]
        + generator.normal(0, SHARED_DIALOGUE, (1, N_DIALOGUES, 1))
        + generator.normal(0, SHARED_TURN, (1, N_DIALOGUES, N_TURNS))
        + generator.normal(0, OWN_DIALOGUE, (len(means), N_DIALOGUES, 1))
        + generator.normal(0, OWN_TURN, shape)
    )
    return np.clip(np.round(points / 10), 1, 10).reshape(len(means), -1) * 10


def test_paired_intervals_find_a_difference_of_1_5_points_that_separate_intervals_never_show():
    separate = paired = 0
    for simulation in range(N_SIMULATIONS):
        values = scores([60, 61.5], np.random.default_rng(simulation))
        worse, better = score_estimates(
            cluster_totals(values, CLUSTERS), np.full(2, 10.0), np.full(2, 100.0)
        )
        separate += worse.ci_high < better.ci_low
        _, differences = paired_totals(values, CLUSTERS)
        (difference,) = difference_estimates(differences, np.array([90.0]))
        paired += difference.ci_high < 0
        assert difference.ci_low < 0
    # A model's mean has the standard error sqrt(101/110 + 97/1650) = 1.0: separate intervals part at
    # 3.9 points. That of the difference, with 8.3 for steps of 10, is sqrt(2 (1/110 + 33/1650)) = 0.24.
    assert separate == 0
    assert paired >= N_SIMULATIONS - 1


def test_equal_models_are_called_different_in_five_of_a_hundred_comparisons():
    n_comparisons, found = 600, 0
    for simulation in range(n_comparisons):
        values = scores([60, 60], np.random.default_rng(10_000 + simulation))
        totals = cluster_totals(values[:1] - values[1:], CLUSTERS)
        (p_value,) = p_values(totals, np.array([90.0]))
        found += p_value <= 0.05
    low, high = stats.binom.interval(0.99, n_comparisons, 0.05)
    assert low <= found <= high


def test_a_model_that_dies_before_the_hard_turns_is_ahead_in_the_mean_of_survivors_alone():
    # On a scale of 10..100: turns 6 to 15 are 20 points harder for both; `dying` is 5 points worse at
    # every turn, and dies after turn 5 of every dialogue.
    hard = np.where(np.arange(N_TURNS) < 5, 0, -20.0)
    values = scores([75, 70], np.random.default_rng(0)) + np.tile(hard, N_DIALOGUES)
    values = np.clip(values, 10, 100).reshape(2, N_DIALOGUES, N_TURNS)
    observed = {
        model: [
            ScoredObservation(
                item_id=f"{dialogue:03}",
                cluster=f"{dialogue:03}",
                trial="plain",
                turn=turn + 1,
                metric="Overall",
                value=None if model == "dying" and turn >= 5 else grades[dialogue, turn] / 10,
                status="not_asked" if model == "dying" and turn >= 5 else "judged",
            )
            for dialogue in range(N_DIALOGUES)
            for turn in range(N_TURNS)
        ]
        for model, grades in zip(("finishing", "dying"), values, strict=True)
    }
    metric = Mean(name="Overall", lowest=10, highest=100, scale=10)

    rows = score_rows([metric], observed)
    shown = {(row["form"], row["model"]): round(row["value"]) for row in rows}
    # Judged only: 75 - 20 * 10/15 = 62 for the better model, 70 for the worse.
    assert shown["judged", "finishing"] == 62 and shown["judged", "dying"] == 70
    # At the floor: (5 * 70 + 10 * 10) / 15 = 30 for the worse model.
    assert shown["floor", "finishing"] == 62 and shown["floor", "dying"] == 30
    # On common units, turns 1 to 5 of every dialogue.
    assert shown["common", "finishing"] == 75 and shown["common", "dying"] == 70

    pairs, ranks = compare([metric], observed, least_coverage=0.3)
    assert {row["model"]: row["rank"] for row in ranks} == {"finishing": 1, "dying": 2}
    # `dying` less `finishing`, on the turns that both were judged on.
    (common,) = (row for row in pairs if row["form"] == "common")
    assert common["n_units"] == 5 * N_DIALOGUES and common["p_holm"] < 0.05
    assert -7 < common["ci_low"] < -5 < common["ci_high"] < -3
    # A third of its turns was judged: its rank has a mark by default.
    _, ranks = compare([metric], observed, least_coverage=0.95)
    assert {row["model"]: row["rank"] for row in ranks} == {"finishing": 1, "dying": 2}
    assert {row["model"]: row["mark"] is None for row in ranks} == {
        "finishing": True,
        "dying": False,
    }
