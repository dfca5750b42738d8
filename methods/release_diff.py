"""Diff of two releases: added, removed and changed items, settings, prompts and scores."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from methods.ids import canonical_json
from methods.markdown import code
from methods.release_card import Card, facts, settings_of

Row = Mapping[str, Any]

_LEFT_OUT = ("Dialogues", "Items", "Turns", "Images", "tau", "Corpus")
"""Facts of the cards that are not compared here, because the diff page has them elsewhere."""
_WORDS = {"answer": "reference"}
"""Display names of kinds of references that differ from the kind."""
_ABOUT = ("group", "labels", "reviewers", "attribution")
"""Kinds of changes that affect neither questions nor scores: only metadata of an item."""
_OF_REFERENCES = ("reference", "key", "caption", "focus")


class ReleaseContents(NamedTuple):
    """A release: its card, its rows by table, and the overall scores of models on it."""

    card: Card
    rows: Mapping[str, Sequence[Row]]
    scores: Sequence[Row]


class ContentChange(NamedTuple):
    """One change: texts or image ids before and after. Added or removed content has an empty side.

    Attributes:
        kind: question, given, entering images, reference, key, caption, focus, choices, order of
            choices, images, order of images, turn added, turn removed, group, labels, reviewers or
            attribution.
        turn: The turn; None for changes of the whole item.
        before: The texts or image ids in the first release.
        after: The texts or image ids in the second release.
    """

    kind: str
    turn: int | None
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def of_images(self) -> bool:
        """Whether `before` and `after` are ids of images."""
        return self.kind in ("images", "order of images")


class ItemChange(NamedTuple):
    """An item that was added, removed or changed.

    Attributes:
        set_id: The id of its image set, if it has one.
        item_ids: Its id, or its ids in the first and second release if they differ.
        what: A description of the change.
        opening: The first question, in the second release if both have the item.
        changes: The single changes; empty for added and removed items.
    """

    set_id: str | None
    item_ids: tuple[str, ...]
    what: str
    opening: str
    changes: tuple[ContentChange, ...] = ()


class ReleaseDifference(NamedTuple):
    """The items that were added, removed and changed from the first release to the second."""

    added: list[ItemChange]
    removed: list[ItemChange]
    changed: list[ItemChange]
    n_same: int
    turns: dict[str, int]
    """The numbers of added and removed turns, and of changed questions and references, in all items."""
    kinds: dict[str, int]
    """The number of items with each kind of change, the most frequent kind first."""
    common: dict[str, str]
    """Items with the same questions, given turns, choices, references and images in both releases: the
    id in the second release by the id in the first. Labels, groups and reviewers may differ."""
    made_by: list[tuple[str, str, str]]
    """Settings and other facts that differ: (name, value of the first, value of the second)."""
    scores: list[tuple[str, str, str, Row | None, Row | None]]
    """(model, judge, version of the judge's prompt, score on the first, score on the second)."""


def difference(first: ReleaseContents, second: ReleaseContents) -> ReleaseDifference:
    """Compare two releases. Items are matched by their id, or else by their image set.

    Args:
        first: The earlier release.
        second: The later release.

    Returns:
        The added, removed and changed items, and the items that are the same.
    """
    before, after = _items(first), _items(second)
    pairs = [(item_id, item_id) for item_id in before if item_id in after]
    unmatched = {key: item for key, item in before.items() if key not in after}
    new = {key: item for key, item in after.items() if key not in before}
    # If the dialogue of an image set was generated again, its item has a new id.
    new_of_set = {item["set_id"]: key for key, item in new.items() if item["set_id"]}
    for item_id, item in list(unmatched.items()):
        match = new_of_set.pop(item["set_id"], None)
        if match:
            pairs.append((item_id, match))
            del unmatched[item_id], new[match]
    turns = dict.fromkeys(("added", "removed", "questions", "references"), 0)
    kinds: Counter[str] = Counter()
    changed, common = [], {}
    for first_id, second_id in pairs:
        changes = tuple(_changes(before[first_id], after[second_id]))
        if all(change.kind in _ABOUT for change in changes):
            common[first_id] = second_id
        if changes or first_id != second_id:
            ids = (first_id,) if first_id == second_id else (first_id, second_id)
            what = _in_words(changes) or "another id, same content"
            item = after[second_id]
            changed.append(ItemChange(item["set_id"], ids, what, _opening(item), changes))
        kinds.update(list(dict.fromkeys(change.kind for change in changes)))
        _count(changes, turns)
    turns["added"] += sum(len(item["turns"]) for item in new.values())
    turns["removed"] += sum(len(item["turns"]) for item in unmatched.values())
    return ReleaseDifference(
        [_alone(item_id, item) for item_id, item in new.items()],
        [_alone(item_id, item) for item_id, item in unmatched.items()],
        changed,
        len(pairs) - len(changed),
        turns,
        dict(kinds.most_common()),
        common,
        _made_by(first.card, second.card),
        _scores(first.scores, second.scores),
    )


def _items(contents: ReleaseContents) -> dict[str, dict[str, Any]]:
    """The items by id, each with its turns by number, references, choices and images in order."""
    items: dict[str, dict[str, Any]] = {
        row["item_id"]: {**row, "turns": {}, "references": {}, "choices": [], "images": []}
        for row in contents.rows["items"]
    }
    for row in contents.rows["turns"]:
        items[row["item_id"]]["turns"][row["turn"]] = row
    for row in contents.rows["references"]:
        items[row["item_id"]]["references"][row["turn"], row["kind"]] = row["reference"]
    for row in contents.rows["choices"]:
        items[row["item_id"]]["choices"].append(row["choice"])
    for row in contents.rows["images"]:
        items[row["item_id"]]["images"].append(row)
    return items


def _opening(item: Row) -> str:
    turns = item["turns"]
    return turns[min(turns)]["question"] if turns else ""


def _alone(item_id: str, item: Row) -> ItemChange:
    n = len(item["turns"])
    return ItemChange(
        item["set_id"], (item_id,), f"{n} turn{'' if n == 1 else 's'}", _opening(item)
    )


def _changes(before: Row, after: Row) -> Iterator[ContentChange]:
    """Yield the changes between two items, first turn by turn, then of the whole item."""
    for turn in sorted({*before["turns"], *after["turns"]}):
        old, new = (item["turns"].get(turn) for item in (before, after))
        if old is None or new is None:
            kind = "turn added" if old is None else "turn removed"
            yield ContentChange(
                kind, turn, _texts(old and old["question"]), _texts(new and new["question"])
            )
            continue
        yield from _change("question", turn, _texts(old["question"]), _texts(new["question"]))
        yield from _change("given", turn, _texts(old["given"]), _texts(new["given"]))
        entering = (tuple(map(str, turn["image_positions"])) for turn in (old, new))
        yield from _change("entering images", turn, *entering)
        for kind in ("answer", "key", "caption", "focus"):
            texts = (_texts(item["references"].get((turn, kind))) for item in (before, after))
            yield from _change(_WORDS.get(kind, kind), turn, *texts)
    yield from _list("choices", *(tuple(item["choices"]) for item in (before, after)))
    images = [tuple(row["image_id"] for row in item["images"]) for item in (before, after)]
    yield from _list("images", *images)
    if images[0] == images[1]:
        credit_texts = (tuple(map(_credit, item["images"])) for item in (before, after))
        yield from _change("attribution", None, *credit_texts)
    yield from _change("group", None, *(_texts(item["group_id"]) for item in (before, after)))
    labels = (
        tuple(f"{name}: {value}" for name, value in sorted(item["labels"].items()))
        for item in (before, after)
    )
    yield from _change("labels", None, *labels)
    yield from _change("reviewers", None, *(tuple(item["reviewers"]) for item in (before, after)))


def _change(
    kind: str, turn: int | None, before: tuple[str, ...], after: tuple[str, ...]
) -> Iterator[ContentChange]:
    if before != after:
        yield ContentChange(kind, turn, before, after)


def _list(kind: str, before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[ContentChange]:
    """Compare two lists. If only the order differs, the kind is "order of ..."."""
    same = sorted(before) == sorted(after)
    return _change(f"order of {kind}" if same else kind, None, before, after)


def _texts(text: str | None) -> tuple[str, ...]:
    return () if text is None else (text,)


def _credit(image: Row) -> str:
    """The source, author and licence of an image as one text."""
    names = ("title", "page_url", "attribution", "licence", "licence_url", "artist")
    return " · ".join(str(image[name]) for name in names if image.get(name))


def _in_words(changes: Sequence[ContentChange]) -> str:
    """List the changes by kind, each with its turns: `question of turn 1, 3; choices`."""
    turns: dict[str, list[str]] = {}
    for change in changes:
        turns.setdefault(change.kind, []).extend([str(change.turn)] if change.turn else [])
    first = sorted(turns, key=lambda kind: not kind.startswith("turn "))
    return "; ".join(
        f"{kind}{' of turn' * (not kind.startswith('turn '))} {', '.join(turns[kind])}"
        if turns[kind]
        else kind
        for kind in first
    )


def _count(changes: Sequence[ContentChange], counts: dict[str, int]) -> None:
    """Add the changes of turns to `counts`. A turn with several changed references counts once."""
    counts["added"] += sum(change.kind == "turn added" for change in changes)
    counts["removed"] += sum(change.kind == "turn removed" for change in changes)
    for name, kinds in (("questions", ("question", "given")), ("references", _OF_REFERENCES)):
        counts[name] += len({change.turn for change in changes if change.kind in kinds})


def _made_by(first: Card, second: Card) -> list[tuple[str, str, str]]:
    old, new = dict(facts(first)), dict(facts(second))
    rows = [
        (name, old.get(name, "–"), new.get(name, "–"))
        for name in {**old, **new}
        if name not in _LEFT_OUT and old.get(name) != new.get(name)
    ]
    for name, first_part, second_part in (
        ("shard", _shards(first), _shards(second)),
        ("setting", _settings(first), _settings(second)),
    ):
        for key in {**first_part, **second_part}:
            values = first_part.get(key, "–"), second_part.get(key, "–")
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
    old, new = ({_score_key(row): row for row in rows} for rows in (first, second))
    return [(*key, old.get(key), new.get(key)) for key in {**old, **new}]


def _score_key(row: Row) -> tuple[str, str, str]:
    # Scores of two judges, or under two versions of a judge's prompt, are not compared.
    return row["model"], row["judge"], row["judge_version"]
