"""What changed since the last site: by hand, from file to file, and from files that are none."""

from pathlib import Path
from typing import Any

import pytest

from resources.reports.state import (
    Changes,
    ScoreChange,
    difference,
    keep_state,
    since_last,
)

FIRST, SECOND, THIRD = (f"2026-03-0{day}T08:00:00+00:00" for day in (1, 2, 3))


def release(in_force: bool = True, by: str = "Overall, judge a", **scores: str) -> dict[str, Any]:
    return {"name": "r", "in_force": in_force, "by": by, "scores": scores}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index.json"


def test_each_kind_of_change_is_found() -> None:
    before = {
        "same": release(a="1.0"),
        "replaced": release(a="1.0"),
        "removed": release(a="1.0"),
        "never in force": release(in_force=False),
        "back": release(in_force=False, a="1.0"),
        "judged otherwise": release(a="1.0"),
        "first judged": release(by="None, None"),
        "scored": release(a="1.0", b="2.0", gone="3.0"),
    }
    after = {
        "same": release(a="1.0"),
        "replaced": release(in_force=False, a="1.0"),
        "back": release(a="1.0"),
        "judged otherwise": release(by="Overall, judge b", a="9.0"),
        "first judged": release(a="4.0"),
        "scored": release(a="1.5", b="2.0", new="5.0"),
        "new": release(a="1.0"),
    }
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


def made(file: Path, state: dict[str, Any], when: str) -> Any:
    """What the page that is made at this time says."""
    since = since_last(file, state)
    keep_state(file, state, since, when)
    return since


def test_the_first_time_says_nothing_and_the_same_twice_says_the_same(file: Path) -> None:
    one, two = {"r": release(a="1.0")}, {"r": release(a="2.0")}
    assert made(file, one, FIRST) is None
    assert made(file, one, SECOND) is None
    changed = made(file, two, SECOND)
    assert changed.created_at == FIRST
    assert changed.changes.scores == [ScoreChange("r", "a", "1.0", "2.0")]
    # Made again, for example with a comparison of two releases, it says what it said.
    content = file.read_bytes()
    assert made(file, two, THIRD) == changed
    assert file.read_bytes() == content
    back = made(file, one, THIRD)
    assert (back.created_at, back.changes.scores) == (SECOND, [ScoreChange("r", "a", "2.0", "1.0")])


def test_a_page_that_was_written_without_its_state_says_the_same_again(file: Path) -> None:
    made(file, {"r": release(a="1.0")}, FIRST)
    after = {"r": release(a="2.0")}
    killed_before_the_state_was_kept = since_last(file, after)
    assert made(file, after, SECOND) == killed_before_the_state_was_kept


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"{", b"\xff", b'{"made": "x", "state": [], "since": null}'),
        b'{"made": "x", "state": {"r": 1}, "since": null}',
        b'{"made": "x", "state": {}, "since": {"made": "x", "changes": {"scores": [[1]]}}}',
    ],
)
def test_a_file_that_is_no_state_is_as_none_and_is_mended(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert made(file, {"r": release(a="1.0")}, FIRST) is None
    assert made(file, {"r": release(a="2.0")}, SECOND).created_at == FIRST
