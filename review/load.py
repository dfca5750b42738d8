"""Import of a dump of the review: its rows are checked against the items of the store."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from methods.ids import content_id
from methods.json_text import from_json
from methods.review import KINDS, Decision, QueueItem
from methods.review.decisions import check_reason, check_texts
from resources.review.events import source_of
from resources.review.gold import NewGold, gold_id_of
from resources.review.loading import DumpedDecision, DumpError, End, LoadResult
from resources.review.store import ReviewStore
from review.dump_tables import CommentRow, DecisionRow, GoldRow, read_table


class _ExpectedDecision(BaseModel):
    """An expert's decision on an item, as `expected_of` in methods/review/gold.py returns it."""

    model_config = ConfigDict(extra="forbid")
    verdict: Literal["accept", "edit", "reject"]
    content: dict[str, Any] | None


class DumpLoadResult(NamedTuple):
    """What was stored, and the numbers of decisions that were left out.

    `without_item`: their item was never in the queue of this store. `of_other_gold`: they are on gold
    items whose original item is not in this store with the same content.
    """

    stored: LoadResult
    without_item: int = 0
    of_other_gold: int = 0


def load(path: Path, store: ReviewStore) -> DumpLoadResult:
    """Import the decisions, comments and gold items of a dump in one transaction.

    Existing rows do not change, but a decision that was taken back or ended in the dump ends here, too.
    The decisions on an item are left out if this store has decisions on it that the dump lacks.
    Decisions on items that this store lacks are left out and counted; import the same file again once
    the items are in the queue.

    Args:
        path: The dump.
        store: The review store.

    Returns:
        The counts.

    Raises:
        DumpError: The file is not valid; the message names the table and row.
    """
    current_time = store.time()
    gold_rows = list(read_table(path, "gold", GoldRow, current_time))
    gold = _gold(path, store, gold_rows)
    copies = {new.item["item_id"]: new.item for new in gold}
    items: dict[str, QueueItem | None] = {}
    n_left_out: Counter[str] = Counter()
    decided = []
    histories: dict[str, list[Decision]] = defaultdict(list)
    sources: set[str] = set()
    for number, row in enumerate(read_table(path, "decisions", DecisionRow, current_time), start=1):
        if row.item_id not in items:
            items[row.item_id] = copies.get(row.item_id) or store.item(row.item_id)
        item = items[row.item_id]
        if item is None:
            n_left_out[row.item_id] += 1
            continue
        place = _place(path, number)
        decision = _decision(place, row)
        source = source_of(decision)
        if source in sources:
            raise DumpError(f"{place}: an earlier row has the same decision: remove one of them.")
        sources.add(source)
        end = row.ended_by and End(row.ended_by, row.ended_for, row.ended_at)
        decided.append(DumpedDecision(number, decision, end or None))
        histories[row.item_id].append(decision)
    contents = {
        item_id: _contents(item, histories[item_id]) for item_id, item in items.items() if item
    }
    for dumped in decided:
        of_item = contents[dumped.decision.item_id]
        _check(_place(path, dumped.row), dumped.decision, of_item)
    # Dumps of earlier versions have no gold items, so recognize them by their ids, too.
    golden = {gold_id_of(item) for item in items.values() if item is not None}
    golden |= {row.item_id for row in gold_rows}
    of_other_gold = sum(n for item_id, n in n_left_out.items() if item_id in golden)
    without_item = n_left_out.total() - of_other_gold
    written = [
        row.model_dump(exclude={"comment_id"})
        for row in read_table(path, "comments", CommentRow, current_time)
    ]
    return DumpLoadResult(store.load(decided, written, gold), without_item, of_other_gold)


def _gold(path: Path, store: ReviewStore, rows: list[GoldRow]) -> list[NewGold]:
    """Read gold items that this store lacks, if it has their original items with the same content."""
    new = []
    for number, row in enumerate(rows, start=1):
        item = store.item(row.of_item)
        if store.item(row.item_id) is not None or item is None or gold_id_of(item) != row.item_id:
            continue
        try:
            expected = _ExpectedDecision.model_validate(from_json(row.expected)).model_dump()
            content = expected["content"]
            if (expected["verdict"] == "reject") != (content is None):
                raise ValueError("the content is that of an item which is not rejected")
            if expected["verdict"] == "edit":
                KINDS[item["kind"]].check(content, item["content"])
            elif content is not None and content_id(content) != item["content_hash"]:
                raise ValueError("the content of an accepted item is not that of the item")
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            reason = str(error).split("\n")[0].rstrip(".")
            raise DumpError(f"{path}, gold, row {number}: expected: {reason}.") from None
        copy: QueueItem = {**item, "item_id": row.item_id}
        new.append(NewGold(copy, row.of_item, expected, row.made_by, row.made_at))
    return new


def _place(path: Path, row: int) -> str:
    return f"{path}, decisions, row {row}"


def _decision(place: str, row: DecisionRow) -> Decision:
    """Make the decision of a row, without a check of its texts. Raises DumpError."""
    try:
        edits = None if row.edits is None else from_json(row.edits)
        if (row.verdict == "edit") != (edits is not None):
            raise ValueError("edits are given with the verdict edit, and with no other")
        if edits is not None and not isinstance(edits, dict):
            raise ValueError("edits are not a JSON object")
        if (row.ended_at is None) != (row.ended_by is None):
            raise ValueError("ended_at and ended_by belong together")
        if row.verdict == "reject":
            check_reason(row.reason, row.note)
        content_id(edits)
    except ValueError as error:
        raise DumpError(f"{place}: {str(error).rstrip('.')}.") from None
    values = row.model_dump(exclude={"ended_by", "ended_for", "ended_at", "event_id"})
    return Decision(**values | {"edits": edits})


class _Contents(NamedTuple):
    """Contents of `item` by hash; those that are not `current` are from an earlier queue."""

    item: QueueItem
    by_hash: dict[str, dict[str, Any]]
    current: set[str]


def _contents(item: QueueItem, decisions: Sequence[Decision]) -> _Contents:
    # All edits are collected first: a decision may precede the edit that made its content.
    by_hash = {item["content_hash"]: item["content"]}
    next_hashes: dict[str, set[str]] = defaultdict(set)
    for decision in decisions:
        if decision.edits is not None:
            edited = content_id(decision.edits)
            by_hash.setdefault(edited, decision.edits)
            next_hashes[decision.content_hash].add(edited)
    current, waiting = {item["content_hash"]}, [item["content_hash"]]
    while waiting:
        new = next_hashes[waiting.pop()] - current
        current |= new
        waiting += new
    return _Contents(item, by_hash, current)


def _check(place: str, decision: Decision, contents: _Contents) -> None:
    """Check that the texts of a decision fit the content that it is about. Raises DumpError."""
    item, edits = contents.item, decision.edits
    kind = KINDS[item["kind"]]
    original = contents.by_hash.get(decision.content_hash)
    try:
        check_texts(edits, decision.reason, decision.note, original or item["content"])
        if edits is None:
            return
        if original is not None:
            is_current = decision.content_hash in contents.current
            kind.check(edits, original, item["content"] if is_current else None)
        # The edited content is unknown, since the item has changed: only check its keys.
        elif edits.keys() != item["content"].keys():
            raise ValueError("edits have the keys of another kind")
        kind.texts(edits)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise DumpError(f"{place}: {str(error).rstrip('.')}.") from None
