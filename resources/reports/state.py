"""The changes of releases and scores since the site was last generated, for its home page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from methods.json_text import from_json, to_json
from resources.files.atomic import write_atomically

State = Mapping[str, Mapping[str, Any]]
"""Release id -> its state: `name`, `in_force` (whether it is current), `by` (ranking metric, judge and
version) and `scores` (model -> score as text)."""
NAME, IN_FORCE, BY, SCORES = "name", "in_force", "by", "scores"


class ScoreChange(NamedTuple):
    """A model's score on a release before and after; None without a score."""

    release: str
    model: str
    before: str | None
    after: str | None


class Changes(NamedTuple):
    """The differences of two states: lists of release ids, and changed scores."""

    new: list[str]
    gone: list[str]
    back: list[str]
    scored_otherwise: list[str]
    scores: list[ScoreChange]

    def __bool__(self) -> bool:
        return any(self[:])


class ChangesSinceLast(NamedTuple):
    """Changes since the page of the time `created_at`."""

    created_at: str
    changes: Changes


def difference(before: State, after: State) -> Changes:
    """Compare two states.

    `gone` are releases that are no longer current, `back` those that are current again. If the ranking
    judge, prompt version or metric changed, scores are not compared: the release is `scored_otherwise`.

    Args:
        before: The earlier state.
        after: The later state.
    """
    both = [name for name in after if name in before]
    otherwise = [
        name
        for name in both
        if before[name][SCORES] and after[name][SCORES] and before[name][BY] != after[name][BY]
    ]
    return Changes(
        [name for name in after if name not in before],
        [
            name
            for name, earlier in before.items()
            if earlier[IN_FORCE] and not after.get(name, {}).get(IN_FORCE, False)
        ],
        [name for name in both if after[name][IN_FORCE] and not before[name][IN_FORCE]],
        otherwise,
        [
            ScoreChange(name, model, earlier, later)
            for name in both
            if name not in otherwise
            for model, earlier, later in _scores(before[name][SCORES], after[name][SCORES])
            if earlier != later
        ],
    )


def _scores(
    before: Mapping[str, str], after: Mapping[str, str]
) -> list[tuple[str, str | None, str | None]]:
    models = [*after, *(model for model in before if model not in after)]
    return [(model, before.get(model), after.get(model)) for model in models]


def since_last(path: Path, state: State) -> ChangesSinceLast | None:
    """Compare a state with the stored one; without a change return the last changes.

    Args:
        path: The file.
        state: The new state.

    Returns:
        The changes; None the first time, or if the file cannot be read.
    """
    last = _read(path)
    if last is None:
        return None
    changes = difference(last["state"], state)
    if changes:
        return ChangesSinceLast(last["made"], changes)
    since = last["since"]
    return ChangesSinceLast(since["made"], _changes(since["changes"])) if since else None


def keep_state(path: Path, state: State, since: ChangesSinceLast | None, date: str) -> None:
    """Store the state of a page with its changes. An unchanged state keeps its time.

    Args:
        path: The file.
        state: The state.
        since: The changes.
        date: The time, ISO 8601.
    """
    last = _read(path)
    if last is not None and last["state"] == state:
        return
    stored = {
        "made": date,
        "state": state,
        "since": {"made": since.created_at, "changes": since.changes._asdict()} if since else None,
    }
    write_atomically(path, to_json(stored, indent=1).encode())


def _read(path: Path) -> dict[str, Any] | None:
    try:
        last = from_json(path.read_bytes(), most=None)
        since = last["since"]
        if since:
            _changes(since["changes"])
        difference(last["state"], {})
        return {"made": str(last["made"]), "state": last["state"], "since": since}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _changes(lists: Mapping[str, Sequence[Any]]) -> Changes:
    new, gone, back, otherwise = (list(lists[name]) for name in Changes._fields[:-1])
    return Changes(new, gone, back, otherwise, [ScoreChange(*change) for change in lists["scores"]])
