"""People at work on a queue made by hand, and what the assets make of their decisions."""

from pathlib import Path
from typing import Any

import dagster as dg
import yaml

from assets.evaluate.judge_agreement import judge_agreement
from assets.review.agreement import agreement
from assets.review.effort import effort
from methods.ids import canonical_json, content_id
from methods.review import queue_item
from resources.files.home import review_path
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.resources.review.review_queue import verdict

Row = dict[str, Any]


class Desk:
    """A home with a queue and people who decide."""

    def __init__(self, home: Path, rules: Row):
        home.mkdir()
        (home / "review.yaml").write_text(yaml.safe_dump(rules))
        self.warehouse = Warehouse(home / "warehouse.duckdb")
        self.store = ReviewStore(review_path())

    def queue(self, kind: str, contents: list[Row]) -> None:
        rows = [
            {"item_id": content_id(content, "item"), "kind": kind, "set_id": f"set {number}"}
            | {"content": canonical_json(content), "content_hash": content_id(content)}
            | {"image_ids": [], "context": None}
            for number, content in enumerate(contents)
        ]
        self.fill("evaluate.score_queue" if kind in ("score", "pair") else "review.queue", rows)
        self.store.update_queue([queue_item(row) for row in rows], [kind])

    def decide(self, reviewer: str, verdicts: list[Row]) -> None:
        """One decision on each item, in the order of the queue's sets."""
        items = sorted(self.store.items(), key=lambda item: item["set_id"])
        self.store.append(
            verdict(item, reviewer, **{"seconds": 30.0, **said})
            for item, said in zip(items, verdicts, strict=True)
        )

    def fill(self, table: str, rows: list[Row]) -> None:
        put(self.warehouse, {table: rows})

    def release(self, turns: list[Row]) -> None:
        """Rows of releases: an item, a question, a reference and an image for each of these turns."""
        items = {
            (row["release_id"], row["item_id"]): {"set_id": row["item_id"], **row} for row in turns
        }
        self.fill("release.items", [*items.values()])
        self.fill("release.images", [{**row, "position": 1} for row in items.values()])
        self.fill("release.turns", [{"image_positions": [1], **row} for row in turns])
        self.fill("release.references", [{**row, "kind": "answer"} for row in turns])

    def score(self, person: str, contents: list[Row], dimension: str, points: list[int]) -> None:
        """Queue answers, to each of which a person gives points."""
        self.queue("score", contents)
        edits = [
            content | {"scores": {dimension: given}}
            for content, given in zip(contents, points, strict=True)
        ]
        self.decide(person, [{"verdict": "edit", "edits": edit} for edit in edits])

    def materialize(self) -> dict[str, Row]:
        """Metadata of the assets."""
        result = dg.materialize(
            [agreement, effort, judge_agreement],
            resources={"warehouse": self.warehouse, "review_store": self.store},
        )
        return {
            event.asset_key.path[-1]: {
                name: value.value for name, value in event.materialization.metadata.items()
            }
            for event in result.get_asset_materialization_events()
            if event.asset_key
        }

    def rows(self, text: str) -> list[Row]:
        return self.warehouse.sql(text).to_pylist()
