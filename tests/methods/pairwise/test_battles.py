"""Battles as arrays."""

import numpy as np

from methods.pairwise.battles import FIRST, TIE, Battle, battles_of

FOUR = [
    *(Battle("x", "y", FIRST, "p"), Battle("y", "x", FIRST, "q")),
    *(Battle("x", "y", TIE, "r"), Battle("x", "z", TIE, "s")),
]


def test_wins_and_clusters_are_counted():
    battles = battles_of(FOUR)
    assert battles.models == ["x", "y", "z"]
    assert battles.wins().tolist() == [[0, 1.5, 0.5], [1.5, 0, 0], [0.5, 0, 0]]
    # Battles of one item are one cluster.
    battles = battles_of(battle._replace(cluster="p") for battle in FOUR)
    assert battles.n_clusters == 1
    assert battles.wins().sum() == 4
    assert battles_of(FOUR).n_clusters == 4
    # Chosen battles number their clusters anew.
    battles = battles_of([Battle("x", "y", 1, "p"), Battle("x", "y", 0, "q")])
    chosen = battles.where(np.array([False, True]))
    assert chosen.clusters.tolist() == [0]
    assert chosen.wins().tolist() == [[0, 0], [1, 0]]
