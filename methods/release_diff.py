"""How two releases differ: dialogues, turns, settings and prompts, scores.

What belongs here: the comparison and its form in Markdown. Reading releases is
`dagster_project/releases.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from methods.ids import canonical_json
from methods.markdown import code, table
from methods.release_card import Card, facts, settings_of

Row = Mapping[str, Any]

N_SHOWN = 50
"""Dialogues that the page lists; the counts are of all."""
_LEFT_OUT = ("Dialogues", "Turns", "Images", "tau", "Corpus")
"""Facts that stand elsewhere on the page."""
_OF_ITEM = ("choices", "images", "group_id", "labels", "reviewers")


class Contents(NamedTuple):
    """A release: its card, its rows by table, and the overall scores of models on it."""

    card: Card
    rows: Mapping[str, Sequence[Row]]
    scores: Sequence[Row]


class ItemChange(NamedTuple):
    """A dialogue that only one of two releases has, or that differs; what differs, in words."""

    set_id: str | None
    item_ids: tuple[str, ...]
    what: str


class Difference(NamedTuple):
    """What is added, removed and changed from the first release to the second."""

    added: list[ItemChange]
    removed: list[ItemChange]
    changed: list[ItemChange]
    n_same: int
    turns: dict[str, int]
    """Turns added and removed, questions and references changed, in all dialogues."""
    made_by: list[tuple[str, str, str]]
    """(name, value of the first, value of the second) of what the releases were made by."""
    scores: list[tuple[str, str, str, Row | None, Row | None]]
    """(model, judge, version of its prompt, score on the first, on the second)."""


def difference(first: Contents, second: Contents) -> Difference:
    """From `first` to `second`. Dialogues are matched by their id, else by their image set."""
    before, after = _items(first), _items(second)
    pairs = [(item_id, item_id) for item_id in before if item_id in after]
    left = {key: item for key, item in before.items() if key not in after}
    new = {key: item for key, item in after.items() if key not in before}
    # A set whose dialogue was written anew has another item under another id.
    new_of_set = {item["set_id"]: key for key, item in new.items() if item["set_id"]}
    for item_id, item in list(left.items()):
        match = new_of_set.pop(item["set_id"], None)
        if match:
            pairs.append((item_id, match))
            del left[item_id], new[match]
    turns = dict.fromkeys(("added", "removed", "questions", "references"), 0)
    changed = []
    for one, other in pairs:
        words = _changes(before[one], after[other], turns)
        if words or one != other:
            ids = (one,) if one == other else (one, other)
            what = "; ".join(words) or "another id, same content"
            changed.append(ItemChange(after[other]["set_id"], ids, what))
    turns["added"] += sum(len(item["turns"]) for item in new.values())
    turns["removed"] += sum(len(item["turns"]) for item in left.values())
    return Difference(
        [_alone(item_id, item) for item_id, item in new.items()],
        [_alone(item_id, item) for item_id, item in left.items()],
        changed,
        len(pairs) - len(changed),
        turns,
        _made_by(first.card, second.card),
        _scores(first.scores, second.scores),
    )


def difference_markdown(first: Card, second: Card, found: Difference) -> str:
    """The difference as a page."""
    one, other = first["release_id"], second["release_id"]
    lines = [f"# From {one} to {other}", ""]
    counts = [
        ("dialogues", str(first["n_items"]), str(second["n_items"])),
        ("turns", str(first["n_turns"]), str(second["n_turns"])),
        ("images", str(first["n_images"]), str(second["n_images"])),
    ]
    lines += table(("", code(one), code(other)), counts)
    lines += [
        "",
        f"Dialogues: {len(found.added)} added, {len(found.removed)} removed, "
        f"{len(found.changed)} changed, {found.n_same} the same.",
        f"Turns: {found.turns['added']} added, {found.turns['removed']} removed; "
        f"{found.turns['questions']} questions and {found.turns['references']} references changed.",
    ]
    listed = [
        *(("removed", each) for each in found.removed),
        *(("added", each) for each in found.added),
        *(("changed", each) for each in found.changed),
    ]
    if listed:
        lines += ["", "## Dialogues", ""]
        lines += table(
            ("", "set", "item", "what"),
            [
                (how, code(each.set_id or ""), " → ".join(map(code, each.item_ids)), each.what)
                for how, each in listed[:N_SHOWN]
            ],
        )
        if len(listed) > N_SHOWN:
            lines += ["", f"{len(listed) - N_SHOWN} more are not shown."]
    lines += ["", "## Made by", ""]
    if found.made_by:
        rows = [(name, code(was), code(now)) for name, was, now in found.made_by]
        lines += table(("", code(one), code(other)), rows)
    else:
        lines += ["The same settings, prompts, models and corpus."]
    if found.scores:
        lines += ["", "## Overall scores", ""]
        heads = ("model", "judge", "judge's prompt", code(one), code(other), "difference")
        lines += table(heads, [_score_line(*each) for each in found.scores])
    return "\n".join(lines) + "\n"


def _items(contents: Contents) -> dict[str, dict[str, Any]]:
    """Each item by its id, with its turns by number, its choices and its images in order."""
    items: dict[str, dict[str, Any]] = {
        row["item_id"]: {**row, "turns": {}, "choices": [], "images": []}
        for row in contents.rows["items"]
    }
    references: dict[tuple[str, int], dict[str, str]] = {}
    for row in contents.rows["references"]:
        of_turn = references.setdefault((row["item_id"], row["turn"]), {})
        of_turn[row["kind"]] = row["reference"]
    for row in contents.rows["turns"]:
        asked = row["question"], row["given"]
        key = (row["item_id"], row["turn"])
        items[row["item_id"]]["turns"][row["turn"]] = (asked, references.get(key, {}))
    for name in ("choices", "images"):
        for row in contents.rows[name]:
            items[row["item_id"]][name].append({**row, "item_id": None})
    return items


def _alone(item_id: str, item: Row) -> ItemChange:
    return ItemChange(item["set_id"], (item_id,), f"{len(item['turns'])} turns")


def _changes(before: Row, after: Row, counts: dict[str, int]) -> list[str]:
    """What differs between two dialogues, in words; what differs in turns is added to `counts`."""
    was, now = before["turns"], after["turns"]
    both = sorted(was.keys() & now.keys())
    found = {
        "added": sorted(now.keys() - was.keys()),
        "removed": sorted(was.keys() - now.keys()),
        "questions": [turn for turn in both if was[turn][0] != now[turn][0]],
        "references": [turn for turn in both if was[turn][1] != now[turn][1]],
    }
    words = {
        "added": "turns added",
        "removed": "turns removed",
        "questions": "question of turn",
        "references": "reference of turn",
    }
    said = []
    for name, turns in found.items():
        counts[name] += len(turns)
        if turns:
            said.append(f"{words[name]} {', '.join(map(str, turns))}")
    said += [name for name in _OF_ITEM if before[name] != after[name]]
    return said


def _made_by(first: Card, second: Card) -> list[tuple[str, str, str]]:
    was, now = dict(facts(first)), dict(facts(second))
    rows = [
        (name, was[name], now[name])
        for name in was
        if name not in _LEFT_OUT and was[name] != now[name]
    ]
    for name, one, other in (
        ("shard", _shards(first), _shards(second)),
        ("setting", _settings(first), _settings(second)),
    ):
        for key in {**one, **other}:
            values = one.get(key, "–"), other.get(key, "–")
            if values[0] != values[1]:
                rows.append((f"{name} {code(key)}", *values))
    return rows


def _shards(card: Card) -> dict[str, str]:
    return {shard["wit_shard"]: shard["fingerprint"] for shard in card.get("corpus") or []}


def _settings(card: Card) -> dict[str, str]:
    return {name: canonical_json(value) for name, value in settings_of(card).items()}


def _scores(
    first: Sequence[Row], second: Sequence[Row]
) -> list[tuple[str, str, str, Row | None, Row | None]]:
    was, now = ({_asked(row): row for row in rows} for rows in (first, second))
    return [(*key, was.get(key), now.get(key)) for key in {**was, **now}]


def _asked(row: Row) -> tuple[str, str, str]:
    # Scores of two judges, or under two versions of a judge's prompt, are not compared.
    return row["model"], row["judge"], row["judge_version"]


def _score_line(
    model: str, judge: str, version: str, was: Row | None, now: Row | None
) -> tuple[str, ...]:
    gain = ""
    if was and now and was["value"] is not None and now["value"] is not None:
        gain = f"{now['value'] - was['value']:+.1f}"
    return (code(model), code(judge), code(version), score(was), score(now), gain)


def score(row: Row | None) -> str:
    """A score with its interval."""
    if row is None or row["value"] is None:
        return "–"
    return f"{row['value']:.1f} ({row['ci_low']:.1f} - {row['ci_high']:.1f})"
