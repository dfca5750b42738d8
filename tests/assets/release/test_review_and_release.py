"""Review by file, from the queue to what is evaluated: people's words, names and rejections arrive."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from assets.release.card import prompts_and_writers
from methods.release import Origin, Release
from methods.review import QueueItem
from review.commands import read_queue
from review.import_export import ImportResult, import_records, items_to_export
from review.jsonl import read_jsonl, write_jsonl
from tests.assets.conftest import CopyWorld
from tests.assets.world import Row, World

pytestmark = pytest.mark.slow

EDITED = "Both wings of <image-1> are as blue as ink; I and Ottoline Ferrante have looked twice."
REASON = "factual_error"
TABLES = ("releases", "items", "turns", "references", "images")


def export(world: World, round: int, out: Path) -> list[Row]:
    """What awaits a decision, as the file says it."""
    with world.environment():
        queue = read_queue()
    write_jsonl(items_to_export(queue, world.review_store, round), round, out)
    return [json.loads(line) for line in out.read_text().splitlines()]


def give_back(
    world: World, lines: list[Row], path: Path, reviewer: str, round: int
) -> ImportResult:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with world.environment():
        queue: list[QueueItem] = read_queue()
    return import_records(queue, world.review_store, read_jsonl(path), reviewer, round)


def accept(lines: list[Row]) -> list[Row]:
    return [{**line, "verdict": "accept"} for line in lines]


def frozen(world: World, release_id: str) -> dict[str, list[Row]]:
    """Every row of a release and every byte of its folder."""
    tables: dict[str, list[Row]] = {
        table: world.rows(
            f"SELECT * FROM release.{table} WHERE release_id = $r ORDER BY ALL", r=release_id
        )
        for table in TABLES
    }
    folder = world.home / "releases" / release_id
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    tables["files"] = [{"name": str(path), "content": path.read_bytes()} for path in files]
    return tables


@dataclass
class Reviewed:
    """Alice accepts all but two dialogues: one answer she rewrites, one dialogue she rejects. Bob,
    the expert, accepts what is left."""

    world: World
    edited: str
    """Item whose last answer alice put in her own words."""
    rejected: str
    before: str
    frozen_before: dict[str, list[Row]]
    after: str


@pytest.fixture(scope="module")
def reviewed(released: World, copied: CopyWorld) -> Reviewed:
    world = copied(released)
    before = world.current()["mmdu"]
    frozen_before = frozen(world, before)
    assert world.evaluate("careful").success

    edited, rejected, *_ = [row["item_id"] for row in frozen_before["items"]]
    first_round = export(world, 1, world.root / "alice.jsonl")
    filled = {line["item_id"]: line for line in accept(first_round)}
    content = json.loads(json.dumps(filled[edited]["content"]))
    content["turns"][-1]["answer"] = EDITED
    filled[edited] |= {"verdict": "edit", "edits": content}
    filled[rejected] |= {"verdict": "reject", "reason": REASON}
    first = give_back(world, list(filled.values()), world.root / "alice.filled", "alice", 1)
    second_round = export(world, 2, world.root / "bob.jsonl")
    second = give_back(world, accept(second_round), world.root / "bob.filled", "bob", 2)
    assert (first.added, first.problems) == (len(world.table("review.queue")), [])
    assert (second.added, second.problems) == (first.added - 1, [])

    assert world.release("all").success
    assert world.evaluate("careful").success
    assert world.score().success
    return Reviewed(world, edited, rejected, before, frozen_before, world.current()["mmdu"])


def test_items_stand_as_people_decided(reviewed: Reviewed) -> None:
    rows = reviewed.world.table("review.approved")
    standing = {row["item_id"]: row for row in rows}
    edited, rejected = standing[reviewed.edited], standing[reviewed.rejected]
    assert (edited["status"], edited["revision"]) == ("approved", 1)
    assert (rejected["status"], rejected["reason"]) == ("rejected", REASON)
    assert rejected["reviewers"] == ["alice"]
    told = reviewed.world.told("review/approved")
    assert (told["approved"], told["rejected"]) == (len(rows) - 1, 1)
    assert told["by people"] == len(rows)
    assert told["decisions"] == reviewed.world.warehouse.count("review.decisions")


def test_a_name_that_an_edit_adds_is_told_and_counted(reviewed: Reviewed) -> None:
    (card,) = reviewed.world.rows(
        "SELECT name, quality FROM release.releases WHERE release_id = $r", r=reviewed.after
    )
    counted = json.loads(card["quality"])
    assert counted["unchecked_ungrounded"] == 1 and counted["unchecked"] > 0
    warned = reviewed.world.told("release/releases")["warning"]
    assert f"Rules find in pairs of {card['name']} that people edited: {reviewed.edited}" in warned
    assert "ungrounded (the name Ottoline)" in warned


def test_a_card_names_who_wrote_the_originals_and_how_many_pairs_people_edited(reviewed):
    world = reviewed.world
    (written,) = world.rows(
        "SELECT call_key, prompt_version FROM dialogue.answers ORDER BY ALL LIMIT 1"
    )
    rows: dict[str, list[Row]] = {"items": [], "turns": [], "references": []}
    all_edited = Release("all-edited", rows, originals=(Origin(**written),))
    named = prompts_and_writers(all_edited, world.warehouse, world.ledger)
    assert named["writers"] == ["offline-writer"]
    assert named["prompt_versions"] == [written["prompt_version"]]
    page = (world.home / "releases" / reviewed.after / "README.md").read_text()
    assert "| Written by | `offline-writer` |\n| Edited by | `people, 1 pair` |" in page


def test_other_content_is_another_release_and_the_earlier_one_stays_as_it_was(reviewed):
    assert reviewed.after != reviewed.before
    assert frozen(reviewed.world, reviewed.before) == reviewed.frozen_before
    assert all(reviewed.frozen_before.values())
    text = (reviewed.world.home / "releases" / reviewed.after / "dialogues.json").read_text()
    assert EDITED in text and reviewed.rejected not in text
    tables = frozen(reviewed.world, reviewed.after)
    for table in ("items", "turns", "references", "images"):
        items = {row["item_id"] for row in tables[table]}
        assert len(items) == 3 and reviewed.edited in items and reviewed.rejected not in items


def test_scores_rest_on_the_release_in_force_and_name_who_reviewed_it(reviewed: Reviewed) -> None:
    rows = reviewed.world.table("evaluate.provenance")
    after = [row for row in rows if row["release"] == reviewed.after]
    before = [row for row in rows if row["release"] == reviewed.before]
    assert (len(before), len(after)) == (24, 18)
    assert {tuple(row["reviewers"]) for row in after} == {("alice", "bob")}
    assert {tuple(row["reviewers"]) for row in before} == {("policy:none", "policy:none")}
    (edited,) = [row for row in after if row["reference"] == EDITED]
    assert (edited["item"], edited["revision"]) == (reviewed.edited, 1)
    assert edited["reference_call_key"] is None
    judged = reviewed.world.proxy.asked("judge")
    assert sum(f"<reference>{EDITED}</reference>" in asked.text for asked in judged) == 1
    # 24 answers and 24 judgments of the first release; of the second, the judgment of the edit.
    assert (len(judged), len(reviewed.world.proxy.requests)) == (24 + 1, 24 + 24 + 1)
