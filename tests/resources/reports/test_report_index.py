"""The index of reports: order, best models, links, and what changed since the last site."""

import re
from pathlib import Path
from typing import Any

import pytest

from resources.reports import report_blocks as block
from resources.reports.report_index import ReleaseLine, line_of, matrix, render_index, state_of
from resources.reports.state import (
    Changes,
    ChangesSinceLast,
    ScoreChange,
    difference,
    keep_state,
    since_last,
)
from tests.resources.page_outline import outline
from tests.resources.reports.report_rows import (
    HOSTILE,
    VERSION,
    Page,
    plain,
    rank,
    scores,
    unrank,
)


def line(data: dict[str, Any], **release: Any) -> ReleaseLine:
    of = data["release"] | release
    return line_of({**data, "release": of}, f"{of['release_id']}.html")


def test_the_best_models_are_the_first_by_rank_before_the_first_judge(data) -> None:
    found = line(data)
    assert [(entry.who.name, entry.ranks) for entry in found.best] == [("strong", "1–1")]
    assert (found.benchmark, found.n_models, found.judge) == ("mmdu", 2, "judge gpt-4o")
    assert found.metric == "Overall Score, micro mean"
    # A baseline is never the best.
    data["scores"] += scores("baseline:reference", 95.0)
    for name, place in (("baseline:reference", 1), ("strong", 2), ("weak", 2)):
        rank(data, name, place)
    found = line(data)
    assert [entry.who.name for entry in found.best] == ["strong", "weak"] and found.n_models == 2


def test_the_index_has_models_by_benchmarks_releases_changes_and_comparisons(data, golden) -> None:
    for row in data["scores"]:
        row |= {"label": f"{row['model']} (T=0)", "n_clusters": 20}
        row |= {"mark": "2 of 3 items were asked." if row["model"] == "strong" else None}
    other = {**data, "scores": scores("strong", 30.0), "comparisons": []}
    rank(other, "strong", 1)
    unscored = {**data, "benchmark": None, "scores": [], "comparisons": []}
    answered = {**data, "scores": [], "comparisons": []}
    answered["unjudgeable"] = ["a", "b", "no-images:a", "baseline:empty"]
    lines = [
        line(data, release_id="mmdu-1", is_current=False, created_at="2026-01-01"),
        line(data, release_id="mmdu-2", is_current=False, created_at="2026-02-01"),
        line(unscored, release_id="set-1", name="set", kind="instruction"),
        line(answered, release_id="open-1", name="open"),
        line(data, release_id="mmdu-3"),
        line(other, release_id="mmiu-1", name="mmiu"),
    ]
    changed = [ScoreChange("mmdu-3", "strong", "78.0", "79.5")]
    changed += [ScoreChange("mmdu-3", "weak", None, "1.0")] * 40
    changes = Changes(["mmdu-3"], ["old-1"], [], [], changed)
    since = ChangesSinceLast("2026-03-01T08:00:00+00:00", changes)
    html = render_index(lines, "2026-03-03T10:02:11+00:00", [("mmdu-1", "mmdu-2")], since=since)
    golden("reports/index.txt", outline(html))
    links = Page(html).attributes("a", "href")
    names = ("mmdu-3", "mmiu-1", "open-1", "set-1", "mmdu-2", "mmdu-1")
    own = [link for link in links if link.removeprefix("items/").removesuffix(".html") in names]
    assert own[-12:] == [page for name in names for page in (f"{name}.html", f"items/{name}.html")]
    assert "diff/mmdu-1/mmdu-2.html" in links
    # The benchmark of a release without scores is known all the same.
    assert line(answered).benchmark == "mmdu"
    without = render_index([line(data)], "2026-03-03")
    assert "What changed" not in without and "There is none yet." in Page(without).text


def test_without_ranks_and_without_releases_the_index_says_so(data) -> None:
    unrank(data)
    assert "none has a rank" in Page(render_index([line(data)], "2026-03-03")).text
    assert "There is no report." in Page(render_index([], "2026-03-03")).text


def cells(lines: list[ReleaseLine]) -> dict[str, list[block.Cell]]:
    """The lines of the matrix by model."""
    table = matrix(lines)
    assert isinstance(table, block.Table)
    return {plain(line[0]): list(line[1:]) for line in table.lines}


def test_the_matrix_has_releases_in_force_and_models_by_their_mean_rank(data):
    data["scores"] += [*scores("baseline:empty", 99.0), *scores("new", 90.0)]
    found = cells([line(data)])
    # Without a rank a model is last, and baselines are no models.
    assert list(found) == ["strong", "weak", "new"]
    assert found["new"][0].small[-1] == "no rank"
    assert matrix([line(data, is_current=False)]) is None
    assert 'id="models"' not in render_index([line(data, is_current=False)], "2026-03-03")


def test_the_state_has_what_is_shown_and_who_scored(data) -> None:
    state = state_of([line(data)])
    assert state == {
        "mmdu-0123456789": {
            "name": "mmdu",
            "in_force": True,
            "by": f"Overall Score, micro mean, judge gpt-4o, {VERSION}",
            "scores": {"strong": "78.0", "weak": "41.0"},
        }
    }


def test_hostile_names_are_only_text_and_nothing_is_loaded(data) -> None:
    data["scores"] = scores(HOSTILE, 50.0)
    rank(data, HOSTILE, 1)
    html = render_index([line(data, name=HOSTILE)], HOSTILE)
    Page(html).assert_hostile_is_text(2)
    assert not re.search(r"url\(|@import", html)


# --- What changed since the last site ----------------------------------------------------------------

FIRST, SECOND, THIRD = (f"2026-03-0{day}T08:00:00+00:00" for day in (1, 2, 3))


def of_release(current: bool = True, by: str = "Overall, judge a", **scores: str) -> dict[str, Any]:
    return {"name": "r", "in_force": current, "by": by, "scores": scores}


ONE, TWO = {"r": of_release(a="1.0")}, {"r": of_release(a="2.0")}


def test_each_kind_of_change_is_found() -> None:
    of = of_release
    states = {
        "same": (of(a="1.0"), of(a="1.0")),
        "replaced": (of(a="1.0"), of(False, a="1.0")),
        "removed": (of(a="1.0"), None),
        "never in force": (of(False), None),
        "back": (of(False, a="1.0"), of(a="1.0")),
        "judged otherwise": (of(a="1.0"), of(by="Overall, judge b", a="9.0")),
        "first judged": (of(by="None, None"), of(a="4.0")),
        "scored": (of(a="1.0", b="2.0", gone="3.0"), of(a="1.5", b="2.0", new="5.0")),
        "new": (None, of(a="1.0")),
    }
    before, after = (
        {name: state[place] for name, state in states.items() if state[place]} for place in (0, 1)
    )
    assert difference(before, after) == Changes(
        ["new"],
        ["replaced", "removed"],
        ["back"],
        ["judged otherwise"],
        [
            ScoreChange("first judged", "a", None, "4.0"),
            ScoreChange("scored", "a", "1.0", "1.5"),
            ScoreChange("scored", "new", None, "5.0"),
            ScoreChange("scored", "gone", "3.0", None),
        ],
    )
    assert not difference(after, after)


def changes_at(folder: Path, state: dict[str, Any], when: str) -> Any:
    """What the page that is made at this time says."""
    file = folder / "index.json"
    since = since_last(file, state)
    keep_state(file, state, since, when)
    return since


def test_the_first_time_says_nothing_and_the_same_twice_says_the_same(tmp_path: Path) -> None:
    assert changes_at(tmp_path, ONE, FIRST) is None
    assert changes_at(tmp_path, ONE, SECOND) is None
    # Killed before the state was kept, the page says the same again.
    unkept = since_last(tmp_path / "index.json", TWO)
    changed = changes_at(tmp_path, TWO, SECOND)
    assert changed == unkept and changed.created_at == FIRST
    assert changed.changes.scores == [ScoreChange("r", "a", "1.0", "2.0")]
    # Made again, for example with a comparison of two releases, it says what it said.
    content = (tmp_path / "index.json").read_bytes()
    assert changes_at(tmp_path, TWO, THIRD) == changed
    assert (tmp_path / "index.json").read_bytes() == content
    back = changes_at(tmp_path, ONE, THIRD)
    assert (back.created_at, back.changes.scores) == (SECOND, [ScoreChange("r", "a", "2.0", "1.0")])


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"{", b"\xff", b'{"made": "x", "state": [], "since": null}'),
        b'{"made": "x", "state": {"r": 1}, "since": null}',
        b'{"made": "x", "state": {}, "since": {"made": "x", "changes": {"scores": [[1]]}}}',
    ],
)
def test_a_file_that_is_no_state_is_as_none_and_is_mended(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "index.json").write_bytes(content)
    assert changes_at(tmp_path, ONE, FIRST) is None
    assert changes_at(tmp_path, TWO, SECOND).created_at == FIRST
