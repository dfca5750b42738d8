"""Variance of items, judges and replicates: sums of squares by hand."""

import numpy as np
import pytest

from methods.evaluation.statistics.variance_components import (
    replicate_variance,
    variance_components,
)
from tests.methods.evaluation.statistics.matrices import NAN

# Two items, two judges, two replicates; cell means 3, 5 and 8, 6.
SCORES = np.array([[[2, 4], [5, 5]], [[8, 8], [5, 7]]], dtype=float)


def test_two_items_two_judges_two_replicates_as_worked_by_hand():
    # Item means 4, 7; judge means 5.5, 5.5; mean 5.5.
    # MS_i = 2 * 2 * (1.5^2 + 1.5^2) / 1 = 18; MS_j = 0.
    # Interaction: 3 - 4 = -1, 1, 1, -1: MS_ij = 2 * 4 / 1 = 8.
    # Within cells: 1 + 1, 0, 0, 1 + 1: MS_e = 4 / 4 = 1.
    found = variance_components(SCORES)
    assert (found.item, found.interaction, found.replicate) == (
        (18 - 8) / (2 * 2),
        (8 - 1) / 2,
        1,
    )
    # (0 - 8) / 4 is below 0.
    assert found.judge == 0
    # 2.5 + 0 + 3.5 + 1 = 7.
    assert found.shares == pytest.approx(
        {"item": 2.5 / 7, "judge": 0, "interaction": 3.5 / 7, "replicate": 1 / 7}
    )


def test_with_one_judge_or_one_replicate_there_are_fewer_components():
    # Items 2, 4 and 8, 8: means 3, 8; MS_i = 2 * (2.5^2 + 2.5^2) = 25; MS_e = (1 + 1) / 2 = 1.
    found = variance_components(SCORES[:, :1])
    assert (found.item, found.replicate) == ((25 - 1) / 2, 1)
    assert (found.judge, found.interaction) == (None, None)
    assert found.shares == {"item": 12 / 13, "replicate": 1 / 13}
    # With one replicate its noise is part of the interaction.
    # Cells 2, 5 and 8, 5: item means 3.5, 6.5, judge means 5, 5. MS_i = 2 * 4.5 = 9, MS_j = 0;
    # interaction -1.5, 1.5, 1.5, -1.5: MS_ij = 9.
    found = variance_components(SCORES[:, :, :1])
    assert (found.item, found.judge, found.interaction, found.replicate) == (0, 0, 9, None)


def test_only_complete_items_count_and_too_few_say_so():
    holes = np.concatenate([SCORES, [[[1, NAN], [2, 2]]]])
    assert variance_components(holes) == variance_components(SCORES)
    assert variance_components(SCORES[:1]).reason == "Fewer than two items have every score."
    assert variance_components(SCORES[:, :1, :1]).reason == (
        "One score an item: nothing tells items from noise."
    )
    assert variance_components(SCORES[:1]).shares == {}
    assert variance_components(np.full((3, 2, 2), 5.0)).shares == {}


def test_replicate_variance_is_the_mean_over_units_scored_twice_or_more():
    # Variances of (2, 4), (5, 5, 8) and (8, 8): 2, 3 and 0. A unit scored once says nothing.
    scores = np.array([[2, 4, NAN], [5, 5, 8], [8, 8, NAN], [NAN, 1, NAN]])
    assert replicate_variance(scores) == pytest.approx(5 / 3)
    assert replicate_variance(scores[3:]) is None
    # Of several judges, every unit of every judge: it is the component of replicates.
    assert replicate_variance(SCORES) == variance_components(SCORES).replicate
