"""Clusters of tasks, worked by hand: tasks count alike, whatever their number of questions."""

import pytest

from extras.task_map.methods.cluster_scores import NO_DISTANCE, cluster_findings
from methods.evaluation.findings import Finding
from methods.evaluation.metrics.mean import Mean
from tests.methods.evaluation.observed import ScoredObservation, frame

BY_TASK = Mean(
    name="Accuracy",
    observation="right",
    aggregation="macro by task",
    scale=100.0,
    lowest=0.0,
    highest=100.0,
)
TASKS = {"a": "VO", "b": "VO", "c": "VO", "d": "VO", "e": "TO", "f": "GAR"}
VALUES = {"m": "110010", "n": "100001"}
CLUSTERS = {"VO": 1, "TO": 1, "GAR": 2}
DISTANCES = {("TO", "VO"): 0.25, ("GAR", "TO"): 1.5, ("GAR", "VO"): 1.0}


@pytest.fixture
def found() -> dict[tuple[str, ...], Finding]:
    observed = {
        model: [
            ScoredObservation(item, item, "plain", 1, "right", float(value), labels={"task": task})
            for (item, task), value in zip(TASKS.items(), values, strict=True)
        ]
        for model, values in VALUES.items()
    }
    findings = cluster_findings(BY_TASK, frame(observed), "task", CLUSTERS, DISTANCES)
    return {(each.subset_value[0], each.measure, each.subject): each for each in findings}


def test_the_distance_is_the_mean_of_the_pairs_within(found) -> None:
    within = found["1", "cluster_distance", ""]
    assert (within.value, within.n, within.subset_value) == (0.25, 1, "1: TO, VO")
    alone = found["2", "cluster_distance", ""]
    assert (alone.value, alone.n, alone.reason) == (None, 0, NO_DISTANCE)


def test_tasks_count_alike_in_the_score_of_a_cluster(found) -> None:
    # m: VO 2 of 4, TO 1 of 1; n: VO 1 of 4, TO 0 of 1.
    assert found["1", "cluster_mean", "m"].value == pytest.approx(75)
    assert found["1", "cluster_mean", "n"].value == pytest.approx(12.5)
    assert found["1", "cluster_mean", ""].value == pytest.approx(43.75)
    assert found["1", "cluster_mean", "m"].n_clusters == 5
    assert (found["2", "cluster_mean", "m"].value, found["2", "cluster_mean", "n"].value) == (
        0,
        100,
    )
