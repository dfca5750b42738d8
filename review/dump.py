"""Export of all review data to one file: decisions, revisions, comments, effort, gold."""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator

from methods.ids import content_id
from methods.review import Decision, QueueItem, source_hash_of
from methods.review.ratings import effort_rows
from resources.review.store import ReviewStore
from review.dump_tables import COLUMNS, FORMS, Row
from review.item_texts import item_texts


def tables(store: ReviewStore) -> dict[str, list[Row]]:
    """Make all tables of the dump; rows are ordered by time."""
    decided = store.decisions(revoked=True)
    ended = store.revocations()
    items = {item_id: store.item(item_id) for item_id in {each.item_id for each in decided}}
    known_items = {item_id: item for item_id, item in items.items() if item is not None}
    rows: dict[str, list[Row]] = {name: [] for name in COLUMNS}
    for decision in decided:
        end = ended.get(decision.event_id or 0)
        edits = None if decision.edits is None else json.dumps(decision.edits, ensure_ascii=False)
        rows["decisions"].append(
            {
                **vars(decision),
                "edits": edits,
                "source_hash": decision.source_hash or source_hash_of(decision),
                "ended_by": end and end.person,
                "ended_for": end and end.reason,
                "ended_at": end and end.revoked_at,
            }
        )
    rows["revisions"] = list(_revisions(known_items, decided))
    rows["comments"] = [vars(each) for each in store.comments()]
    in_force = [each for each in decided if each.event_id not in ended]
    rows["effort"] = [
        {**row, "reasons": json.dumps(row["reasons"], sort_keys=True)}
        for row in effort_rows(known_items.values(), in_force)
    ]
    rows["gold"] = store.gold()
    return rows


def _revisions(items: dict[str, QueueItem], decided: Iterable[Decision]) -> Iterator[Row]:
    """Yield a row for each text that a decision changed, with the text before and after."""
    contents = {(item_id, item["content_hash"]): item["content"] for item_id, item in items.items()}
    for decision in decided:
        before = contents.get((decision.item_id, decision.content_hash))
        if decision.edits is None or decision.item_id not in items:
            continue
        contents[decision.item_id, content_id(decision.edits)] = decision.edits
        if before is None:
            continue
        kind = items[decision.item_id]["kind"]
        old, new = (
            {text.name: text.text for text in item_texts(kind, content)}
            for content in (before, decision.edits)
        )
        for part in dict.fromkeys([*old, *new]):
            if old.get(part) != new.get(part):
                yield {
                    **{name: getattr(decision, name) for name in COLUMNS["revisions"][:4]},
                    "part": part,
                    "before": old.get(part),
                    "after": new.get(part),
                }


def dump_file(store: ReviewStore, form: str) -> bytes:
    """Make the dump: a zip archive with one file for each table.

    Args:
        store: The review store.
        form: The format of the tables.

    Returns:
        The bytes, the same for the same store.
    """
    write = FORMS[form][0]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, rows in tables(store).items():
            # Without a time of writing, so that the same data gives the same bytes.
            entry = zipfile.ZipInfo(f"{name}.{form}")
            archive.writestr(entry, write(COLUMNS[name], rows), zipfile.ZIP_DEFLATED)
    return data.getvalue()
