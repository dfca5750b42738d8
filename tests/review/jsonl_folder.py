"""A queue of dialogues, and a folder in which its JSONL files are exported, filled in and imported."""

import io
import json

from PIL import Image

from methods.ids import content_id
from methods.review import ResolutionPolicy, by_item, resolve
from review.import_export import import_records, items_to_export
from review.jsonl import read_jsonl, write_jsonl

DAY = "2026-07-01T12:00:00+00:00"


def queued(number, kind="dialogue"):
    content = {
        "image_ids": ["a", "b"],
        "turns": [{"question": f"Q{number}: what is in <image-1>?", "answer": "A tower."}],
    }
    if kind == "rewrite":
        content = {"original": "Describe it.", "rewrite": "What is it?"}
    return {
        "item_id": f"item-{number}",
        "kind": kind,
        "content": content,
        "content_hash": content_id(content),
        "image_ids": ["a", "b"],
        "page_urls": ["https://en.wikipedia.org/wiki/Tower"],
    }


def png() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (32, 32), "teal").save(buffer, "PNG")
    return buffer.getvalue()


def edited(line, answer):
    turns = [turn | {"answer": answer} for turn in line["content"]["turns"]]
    return line | {"verdict": "edit", "edits": line["content"] | {"turns": turns}}


class Folder:
    """Files going out and coming back, each under a new name."""

    def __init__(self, path, items, store):
        self.path, self.items, self.store, self.n_files = path, items, store, 0

    def new(self):
        self.n_files += 1
        return self.path / "files" / f"{self.n_files}.jsonl"

    def export(self, round, **options):
        path = self.new()
        given = items_to_export(self.items, self.store, round, **options)
        count = write_jsonl(given, round, path)
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert count == len(lines)
        return lines

    def back(self, lines, reviewer="ann", round=1):
        path = self.new()
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return import_records(self.items, self.store, read_jsonl(path), reviewer, round)

    def resolved(self, number):
        item = self.items[number]
        return resolve(
            item, by_item(self.store.decisions())[item["item_id"]], ResolutionPolicy("all")
        )
