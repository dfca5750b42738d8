"""What `vlm-loom result` prints of scores that are given here."""

import re
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from dagster_project.results import leaderboard_rows, power_of, show_costs, show_results
from resources.publishing.releases import ReleaseError
from resources.publishing.result_files import ReleaseResults, ResultError
from resources.warehouse import Warehouse
from tests.assets.filled import put

PLACE = {"judge": "j", "judge_version": "v", "metric": "Overall Score", "aggregation": "micro"}
PLACE |= {"form": "floor"}
SCORE = PLACE | {"benchmark": "mmdu", "place": 0, "subset_label": "", "model": "a"}


def pair(first: str, detectable: float, n_clusters: int = 30) -> dict[str, Any]:
    of = {"first": first, "second": "z", "method": "m"}
    return PLACE | of | {"detectable": detectable, "n_clusters": n_clusters}


NEVER = "9999-01-01T00:00:00.000+00:00"
"""A start after all calls."""
NONE = pa.table({})


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Pairs of models of a release of MMDU, whose scores are from 10 to 100."""
    pairs: list[dict[str, Any]] = []
    monkeypatch.setattr("resources.publishing.releases.release_meant", lambda _, release: release)
    monkeypatch.setattr(
        "resources.publishing.result_files.read_results",
        lambda *_: ReleaseResults(
            pa.Table.from_pylist([SCORE]), pa.Table.from_pylist(pairs), NONE, NONE, NONE
        ),
    )
    return pairs


@pytest.mark.parametrize("difference", [90.1, 500, 1e308])
def test_a_difference_that_no_two_models_can_have_is_refused(given, difference: float) -> None:
    given.append(pair("a", 5.0))
    with pytest.raises(ResultError, match=r"at most 90 apart in Overall Score.* from 10 to 100"):
        power_of("r", difference, 1)
    assert "a true difference of 90 is found" in power_of("r", 90, 1)


def test_one_pair_that_needs_more_than_can_be_counted_leaves_the_others_theirs(given) -> None:
    given += [pair("a", 4.0), pair("b", 6.0), pair("c", 1e6)]
    said = power_of("r", 4.0, 1)
    # The first pair shows 4 on the 30 that it has.
    assert "(30 to more than 10,000,000 by pair of models)" in said
    middle = int(said.split(" independent")[0].rpartition(" ")[2])
    assert 60 <= middle <= 68
    given[:] = [pair("c", 1e6)]
    assert "on more than 10,000,000 independent" in power_of("r", 4.0, 1)


def test_the_number_has_the_interval_of_its_pilot_and_is_larger_for_more_comparisons(given) -> None:
    given.append(pair("a", 4.0))
    text = power_of("r", 4.0, 1)
    # The variance is 0.54 to 2.44 times that of 30 clusters, and the number about as many times 30.
    assert "on 30 independent dialogues" in text and "two models by themselves" in text
    assert "an estimate from 30: the 95% interval of the number is 18 to 69." in text
    of_ten = power_of("r", 4.0, 10)
    assert "p < 0.05 after Holm's adjustment for 10 comparisons" in of_ten
    # With the quantile t_{1 - 0.005/2}, 3.04, in place of t_{1 - 0.05/2}, 2.05.
    assert "on 51 independent dialogues" in of_ten and "r has 30 and shows 5.42" in of_ten


def test_results_that_were_lost_are_counted_where_their_release_is_in_force(
    tables: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = {"model": "m", "asked": "m", "stage": "answers", "why": "9 unreachable"}
    lacking = [{**lost, "release_id": each} for each in ("now", "earlier")]
    current = [{"name": "mmdu", "release_id": "now"}]
    put(tables, {"release.current": current, "evaluate.missing": lacking})
    assert show_results([]) == 1
    assert "m on now: the results of answers were not taken" in capsys.readouterr().out


def test_one_release_is_shown_in_force_or_not(
    tables: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"now": "mmdu-now", "earlier": "mmdu-earlier"}
    score = {
        **{"place": 0, "form": "floor", "subset_label": "", "subset_value": ""},
        **{"judge": "rule", "value": 50.0, "ci_low": 40.0, "ci_high": 60.0, "n_turns": 9},
    }
    releases = [
        {"release_id": each, "name": "mmdu", "kind": "benchmark", "origin": "imported"}
        | {"review_policy": "none"}
        for each in names.values()
    ]
    scores = [
        {**score, "release_id": release_id, "model": f"model-{when}"}
        for when, release_id in names.items()
    ]
    current = {"release.current": releases[:1], "evaluate.scores": scores}
    put(tables, {"release.releases": releases, **current})
    for said, shown in (("", "now"), ("mmdu", "now"), ("mmdu-earl", "earlier")):
        show_results([], said)
        printed = capsys.readouterr().out
        assert [when for when in names if f"model-{when}" in printed] == [shown]
        assert [row["release"] for row in leaderboard_rows(said)] == [names[shown]]
    with pytest.raises(ReleaseError, match="There is no release mmbench; "):
        show_results([], "mmbench")


def test_costs_of_a_run_name_candidates_by_labels_and_have_answers_that_came_in_a_batch_during_it(
    tables: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two entries of one model, whose calls have the model's name alone, and a judge."""
    answers = [
        {"model": name, "release_id": "r", "item_id": "i", "turn": 1, "status": "refused"}
        | {"call_key": name, "settings": [("model", "m"), ("temperature", temperature)]}
        for name, temperature in (("cold", "0"), ("warm", "0.7"))
    ]

    def call(key: str, model: str = "m", via: str = "live", day: int = 2) -> dict[str, Any]:
        made = {"key": key, "model": model, "run": "run-1", "stage": "evaluate.answers", "via": via}
        made |= {"status": "answered", "seconds": 1.0, "attempts": 1, "cost_usd": 0.5}
        return made | {"created_at": datetime(2026, 3, day, tzinfo=UTC)}

    calls = [call("cold"), call("warm"), call("other", "judge")]
    put(tables, {"evaluate.answers": answers, "ledger.calls": calls})
    show_costs("run-1", NEVER)
    rows = [re.split(" {2,}", line)[1] for line in capsys.readouterr().out.splitlines()[2:-1]]
    assert sorted(rows) == ["cold (T=0)", "judge", "warm (T=0.7)"]
    show_costs("run-2", NEVER)
    assert capsys.readouterr().out == "\nNo answer of a model was paid for in this run.\n"

    # An earlier run's batch came during the run.
    later = (("batch", 1), ("live", 3), ("batch", 3))
    put(tables, {"ledger.calls": [call(f"{via} {day}", "m", via, day) for via, day in later]})
    show_costs("run-2", "2026-03-02T00:00:00.000+00:00")
    *_, total = capsys.readouterr().out.splitlines()
    assert (total.split()[1], total.split()[-1]) == ("1", "0.5000")
