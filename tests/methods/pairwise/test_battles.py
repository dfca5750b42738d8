"""Battles in the form that arenas publish."""

import numpy as np
import pytest

from methods.pairwise.battles import Battle, BattleError, battles_of, published_battles

FOUR = [
    {"model_a": "x", "model_b": "y", "winner": "model_a"},
    {"model_a": "y", "model_b": "x", "winner": "model_a"},
    {"model_a": "x", "model_b": "y", "winner": "tie"},
    {"model_a": "x", "model_b": "z", "winner": "tie (bothbad)"},
]


def test_wins_are_counted_and_a_tie_is_half_a_win_for_each():
    battles = battles_of(published_battles(FOUR))
    assert battles.models == ["x", "y", "z"]
    assert battles.wins().tolist() == [[0, 1.5, 0.5], [1.5, 0, 0], [0.5, 0, 0]]


def test_a_weight_counts_and_records_of_one_question_are_one_cluster():
    rows = [{**row, "weight": "2", "question_id": 7} for row in FOUR]
    battles = battles_of(published_battles(rows))
    assert battles.n_clusters == 1
    assert battles.wins().sum() == 8
    assert battles_of(published_battles(FOUR)).n_clusters == 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"winner": "both"}, r"Record 2 has the winner 'both': it is one of model_a, model_b, tie"),
        ({"winner": None}, r"Record 2 has the winner ''"),
        ({"model_b": "y"}, r"Record 2 does not name two models"),
        ({"model_a": ""}, r"Record 2 does not name two models"),
        ({"weight": "heavy"}, r"Record 2 has a weight that is no number above 0"),
        ({"weight": "nan"}, r"Record 2 has a weight that is no number above 0"),
        ({"weight": -1}, r"Record 2 has a weight that is no number above 0"),
    ],
)
def test_a_record_that_is_no_battle_is_named(change, said):
    rows = [FOUR[0], {**FOUR[1], **change}]
    with pytest.raises(BattleError, match=said):
        published_battles(rows)


def test_chosen_battles_number_their_clusters_anew():
    battles = battles_of([Battle("x", "y", 1, "p"), Battle("x", "y", 0, "q")])
    chosen = battles.where(np.array([False, True]))
    assert chosen.clusters.tolist() == [0]
    assert chosen.wins().tolist() == [[0, 0], [1, 0]]
