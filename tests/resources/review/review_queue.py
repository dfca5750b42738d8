"""Items for the review store, and people who work on them."""

from datetime import UTC, datetime

from sqlalchemy import text

from methods.ids import content_id
from methods.review.decisions import Decision
from resources.review.store import ReviewStore


def item_with(content, kind="rewrite", item_id="item", **more):
    """An item with this content; its images are those of the content."""
    made = {"item_id": item_id, "kind": kind, "content": content}
    made |= {"content_hash": content_id(content), "image_ids": list(content.get("image_ids", []))}
    return made | more


def item(number, *, version=0, kind="rewrite", **more):
    """Item `number`; another version has another content."""
    content = {"original": f"Question {number}?", "rewrite": f"Rewrite {number}.{version}"}
    if kind == "reference":
        content = {"image_ids": [], "question": f"Ask {number}", "reference": f"It is {version}"}
    return item_with(content, kind, f"item-{number}", **more)


def queue(n, **more):
    return [item(number, **more) for number in range(n)]


def with_rules(path, rules, items=()):
    """A store at `path` whose `review.yaml` is `rules`, with these items."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "review.yaml").write_text(rules)
    store = ReviewStore(path / "review.sqlite")
    if items:
        store.update_queue(items)
    return store


def decision(number=0, **changes):
    """A decision on item `number`, unless told otherwise."""
    fields = {"item_id": f"item-{number}", "content_hash": "hash", "round": 1, "reviewer": "ann"}
    fields |= {"verdict": "accept", "decided_at": "2026-01-01T00:00:00+00:00"}
    return Decision(**dict.fromkeys(("edits", "reason", "note", "seconds")) | fields | changes)


def verdict(on, annotator, verdict="accept", edits=None, **more):
    """A person's decision on an item, or on the one that they have locked."""
    of_lock = {"round": 1} | (on if isinstance(on, dict) else vars(on))
    values = {key: of_lock[key] for key in ("item_id", "content_hash", "round")}
    values |= {"reviewer": annotator, "verdict": verdict, "edits": edits}
    reason = "incomplete" if verdict == "reject" else None
    return decision(
        **values | {"reason": reason, "decided_at": datetime.now(UTC).isoformat()} | more
    )


def work(store, annotator, role="annotator", verdict_="accept", *, item_id=None, **more):
    """Lock an item and decide it; returns its id, None when there was nothing to lock."""
    lock = store.lock_item(annotator, role, item_id=item_id)
    if lock is None:
        return None
    store.decide(lock.token, verdict(lock, annotator, verdict_, **more))
    return lock.item_id


def rewritten(store, item_id, text):
    """The item's content as it stands, with another rewrite."""
    return store.state(item_id).item["content"] | {"rewrite": text}


def status(store, item_id):
    """The stored status of an item."""
    [found] = [each for each in store.page(limit=1000)[0] if each.item_id == item_id]
    return found.status


def kept(store):
    """The stored rows that follow from the events."""
    return [rows(store, f"SELECT * FROM {table} ORDER BY 1, 2") for table in ("standings", "bars")]


def assert_follows_from_events(store):
    """The stored rows are those that the events make."""
    before = kept(store)
    store.rebuild()
    assert kept(store) == before, "events and what follows from them went together"


def change(store, statement, **values):
    """Run a statement, for what the store's methods do not do."""
    with store._store.transaction() as connection:
        connection.execute(text(statement), values)


def rows(store, query, **values):
    """What a query finds in the store."""
    with store._store.read() as connection:
        return list(map(tuple, connection.execute(text(query), values)))


def columns(store, table):
    """The names of a table's columns."""
    with store._store.read() as connection:
        return list(connection.execute(text(f"SELECT * FROM {table}")).keys())
