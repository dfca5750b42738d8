"""Battles as arrays."""

import numpy as np

from methods.pairwise.battles import FIRST, TIE, Battle, battles_of

FOUR = [
    *(Battle("x", "y", FIRST, "p"), Battle("y", "x", FIRST, "q")),
    *(Battle("x", "y", TIE, "r"), Battle("x", "z", TIE, "s")),
]


def test_wins_are_counted_and_a_tie_is_half_a_win_for_each():
    battles = battles_of(FOUR)
    assert battles.models == ["x", "y", "z"]
    assert battles.wins().tolist() == [[0, 1.5, 0.5], [1.5, 0, 0], [0.5, 0, 0]]


def test_a_weight_counts_and_battles_of_one_item_are_one_cluster():
    battles = battles_of(battle._replace(weight=2, cluster="p") for battle in FOUR)
    assert battles.n_clusters == 1
    assert battles.wins().sum() == 8
    assert battles_of(FOUR).n_clusters == 4


def test_chosen_battles_number_their_clusters_anew():
    battles = battles_of([Battle("x", "y", 1, "p"), Battle("x", "y", 0, "q")])
    chosen = battles.where(np.array([False, True]))
    assert chosen.clusters.tolist() == [0]
    assert chosen.wins().tolist() == [[0, 0], [1, 0]]
