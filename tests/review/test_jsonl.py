"""The round trip by file: out, filled in by people, and back, as often as anyone likes."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from unittest.mock import Mock

import pytest

from dagster_project.cli import main as loom
from methods import ids
from methods.ids import content_id
from methods.review import ResolutionPolicy, by_item, resolve
from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from review import commands
from review.import_export import Record, import_records, items_to_export
from review.jsonl import read_jsonl, write_jsonl
from review.spreadsheet import write_csv
from tests.doubles.file_size import files_of_at_most
from tests.doubles.one_colour import one_colour
from tests.resources.review.review_queue import item_with

PICTURE = one_colour("teal", (32, 32))


def queued(number, kind="dialogue"):
    content = {
        "image_ids": ["a", "b"],
        "turns": [{"question": f"Q{number}: what is in <image-1>?", "answer": "A tower."}],
    }
    if kind == "rewrite":
        content = {"original": "Describe it.", "rewrite": "What is it?"}
    more = {"image_ids": ["a", "b"], "page_urls": ["https://en.wikipedia.org/wiki/Tower"]}
    return item_with(content, kind, f"item-{number}", **more)


def edited(line, answer):
    turns = [turn | {"answer": answer} for turn in line["content"]["turns"]]
    return line | {"verdict": "edit", "edits": line["content"] | {"turns": turns}}


class Folder:
    """Three items, and files going out and coming back, each under a new name."""

    def __init__(self, path):
        self.path, self.items, self.n_files = path, [queued(n) for n in range(3)], 0
        self.store = ReviewStore(path / "review.sqlite")

    def new(self):
        self.n_files += 1
        return self.path / "files" / f"{self.n_files}.jsonl"

    def export(self, round, **options):
        path = self.new()
        write_jsonl(items_to_export(self.items, self.store, round, **options), round, path)
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

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


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


class TestTwoRounds:
    def test_a_line_has_what_to_judge_and_the_fields_to_fill_for_edit_then_accept(self, folder):
        zero, one, two = folder.export(1)
        said = dict.fromkeys(("verdict", "edits", "reason", "note"))
        keys = ("item_id", "content_hash", "kind", "image_ids", "page_urls", "content")
        assert zero == {"round": 1, **{key: folder.items[0][key] for key in keys}, **said}
        result = folder.back(
            [
                edited(zero, "A lighthouse."),
                one | {"verdict": "accept"},
                two | {"verdict": "reject", "reason": "does_not_follow"},
            ]
        )
        assert (result.added, result.n_known, result.problems) == (3, 0, [])

        assert folder.export(1) == [], "what is rejected needs nobody"
        expert = folder.export(2)
        assert [line["item_id"] for line in expert] == ["item-0", "item-1"]
        assert expert[0]["content"]["turns"][0]["answer"] == "A lighthouse."
        assert expert[0]["content_hash"] == content_id(expert[0]["content"])

        lines = [line | {"verdict": "accept"} for line in expert]
        assert folder.back(lines, reviewer="eve", round=2).added == 2
        assert folder.resolved(0).content == expert[0]["content"]
        assert [folder.resolved(n).status for n in range(3)] == ["approved", "approved", "rejected"]
        assert folder.resolved(0).reviewers == ("ann", "eve")
        assert folder.resolved(2).reason == "does_not_follow"


class TestImport:
    def test_importing_again_adds_nothing_and_lines_left_empty_stay_open(self, folder):
        lines = [edited(line, "A lighthouse.") for line in folder.export(1)]
        lines[2] |= {"verdict": None, "edits": None}

        first, again = folder.back(lines), folder.back(lines)

        assert (first.added, first.left_open, first.problems) == (2, 1, [])
        assert (again.added, again.n_known, again.problems) == (0, 2, [])
        # Who skips an item may decide it later.
        for verdict in ("skip", "accept"):
            assert folder.back([lines[2] | {"verdict": verdict}]).added == 1

    def test_the_contents_of_an_item_are_hashed_once_for_all_its_lines(self, folder, monkeypatch):
        line = folder.export(1)[0]
        folder.back([edited(line, "A mill.")])
        hashed = Mock(wraps=ids.canonical_json)
        monkeypatch.setattr(ids, "canonical_json", hashed)
        counts = []
        for n_lines in (1, 50):
            hashed.reset_mock()
            assert folder.back([line] * n_lines).left_open == n_lines
            counts.append(hashed.call_count)
        assert counts[0] == counts[1] > 0

    def test_a_bad_line_is_reported_by_number_and_the_good_ones_are_kept(self, folder):
        zero, one, two = folder.export(1)
        lines = [
            json.dumps(zero | {"verdict": "fine"}),
            "{not json",
            "[]",
            "",
            json.dumps({"item_id": "gone", "verdict": "accept"}),
            json.dumps(one | {"verdict": "reject"}),
            json.dumps(two | {"verdict": "accept"}),
        ]
        path = folder.new()
        # With a byte order mark and CRLF, as some editors leave it; and bytes that are no UTF-8.
        text = "\ufeff" + "\r\n".join(lines) + "\r\n"
        path.write_bytes(text.encode() + b"\xff\n" + b"[" * 100_000)

        result = import_records(folder.items, folder.store, read_jsonl(path), "ann", 1)

        assert result.added == 1
        assert [problem.split(":")[0] for problem in result.problems] == [
            f"line {number}" for number in (1, 2, 3, 5, 6, 8, 9)
        ]
        assert "verdict is one of" in result.problems[0]
        assert "not in the queue" in result.problems[3]

    def test_an_item_that_another_person_has_open_in_the_app_is_left_to_that_person(self, folder):
        folder.store.update_queue(folder.items)
        lines = [line | {"verdict": "accept"} for line in folder.export(1)]
        lock = folder.store.lock_item("bob", "annotator", item_id=lines[0]["item_id"])
        assert folder.store.lock_item("ann", "annotator", item_id=lines[1]["item_id"])

        result = folder.back(lines)

        assert result.added == len(lines) - 1
        [problem] = result.problems
        assert "is open in the app by bob: import the file again" in problem
        folder.store.release(lock.item_id, "bob")
        assert folder.back(lines).added == 1

    def test_an_item_that_an_annotator_has_open_may_be_decided_early_by_an_expert(self, folder):
        folder.store.update_queue(folder.items)
        assert folder.export(2) == [], "nobody has decided one"
        line, _, _ = folder.export(2, early=True)
        assert folder.store.lock_item("bob", "annotator", item_id=line["item_id"])
        assert folder.back([line | {"verdict": "accept"}], "eve", 2).added == 1

    def test_a_content_that_no_longer_stands_is_a_conflict(self, folder):
        early = [line | {"verdict": "accept"} for line in folder.export(1)]
        folder.items[0] = queued(7) | {"item_id": "item-0"}  # a rebuild wrote it anew

        result = folder.back(early)

        assert result.added == 2
        [problem] = result.problems
        assert problem.startswith("line 1: conflict: item item-0 was decided on at")
        assert folder.resolved(0).status == "pending"

    def test_one_item_decided_two_ways_in_one_file_is_a_conflict(self, folder):
        zero, one, _ = folder.export(1)
        edits = [edited(zero, answer) for answer in ("A lighthouse.", "A mill.")]
        notes = [edits[0], edits[0] | {"note": "I have been there."}]
        for ways, added in ((notes, 1), (edits, 0)):
            result = folder.back([ways[0], one | {"verdict": "accept"}, ways[1]])
            assert result.added == added
            assert [problem[:16] for problem in result.problems] == [
                f"line {number}: conflict" for number in (1, 3)
            ]
            assert folder.resolved(0).revision == 0

    def test_what_an_expert_rejected_is_edited_by_its_annotator(self, folder):
        folder.back([line | {"verdict": "accept"} for line in folder.export(1)[:1]])
        rejected = {"verdict": "reject", "reason": "does_not_follow"}
        folder.back([folder.export(2)[0] | rejected], "eve", 2)
        line = folder.export(1, reviewer="ann")[0]
        (problem,) = folder.back([line | {"verdict": "accept"}], "bob").problems
        assert problem.endswith("was rejected by an expert: edit it, or reject it.")
        assert folder.back([edited(line, "A mill.")]).added == 1

    def test_content_changed_in_place_is_not_lost_silently(self, folder):
        line = folder.export(1)[0]
        changed = edited(line, "A lighthouse.")["edits"]

        for verdict in (None, "accept"):
            result = folder.back([line | {"content": changed, "verdict": verdict}])
            assert (result.added, result.left_open) == (0, 0)
            assert "put the changed content in edits" in result.problems[0]

    def test_a_file_of_another_round_or_of_no_plausible_time_is_refused(self, folder):
        line = folder.export(1)[0] | {"verdict": "accept"}
        other = folder.back([line], round=2)
        assert other.added == 0 and "exported for round 1" in other.problems[0]
        future = folder.back([line | {"decided_at": "2999-01-01"}])
        assert future.added == 0
        assert future.problems == ["line 1: 2999-01-01 is before 2020 or in the future."]


class TestTwoSources:
    """The same item from two files, or from a file and the app."""

    def test_a_second_file_that_says_otherwise_changes_nothing(self, folder):
        lines = folder.export(1)
        folder.back([edited(lines[0], "A lighthouse."), lines[1] | {"verdict": "accept"}])

        result = folder.back([edited(lines[0], "A mill."), lines[1] | {"verdict": "skip"}])

        assert (result.added, result.n_known) == (0, 0)
        assert [problem.split(" otherwise before (")[0] for problem in result.problems] == [
            f"line {n}: conflict: ann decided item item-{n - 1}" for n in (1, 2)
        ]
        other = folder.back([edited(lines[1], "A mill.")], reviewer="bob")
        assert other.problems == [
            "line 1: conflict: item item-1 needs no decision in round 1 any more: decided by ann."
        ]
        assert folder.export(2)[0]["content"]["turns"][0]["answer"] == "A lighthouse."

    def test_of_two_imports_at_once_one_is_taken_and_one_reported(self, folder):
        line = folder.export(1)[0]
        ways = [edited(line, f"Mill {number}.") for number in range(4)]
        start = Barrier(len(ways))

        def import_one(way):
            records = [Record("line 1", way)]
            start.wait()
            return import_records(folder.items, folder.store, records, "ann", 1)

        with ThreadPoolExecutor(len(ways)) as threads:
            results = list(threads.map(import_one, ways))

        assert sorted(result.added for result in results) == [0, 0, 0, 1]
        assert sum(len(result.problems) for result in results) == 3

    def test_two_annotators_work_blind_from_two_files(self, folder, tmp_path):
        (tmp_path / "review.yaml").write_text("default: {annotators: 2}")
        folder.store = ReviewStore(tmp_path / "review.sqlite")
        ann, bob = (folder.export(1, reviewer=name)[0] for name in ("ann", "bob"))
        folder.store.update_queue(folder.items)
        lock = folder.store.lock_item("bob", "annotator", item_id="item-0")
        assert folder.back([edited(ann, "A mill.")]).added == 1, "there is a second place"
        folder.store.unlock(lock.claim)

        assert [len(folder.export(1, reviewer=name)) for name in ("ann", "bob")] == [2, 3]
        assert folder.back([bob | {"verdict": "accept"}], reviewer="bob").added == 1
        # They disagree, and the expert, who is neither of them, decides on what both saw.
        assert folder.export(2, reviewer="ann") == []
        (expert,) = folder.export(2, reviewer="eve")
        assert expert["content"] == ann["content"]
        own = folder.back([expert | {"verdict": "accept"}], reviewer="bob", round=2)
        assert own.problems == [
            "line 1: bob decided item item-0 in the other round: somebody else must."
        ]


@pytest.mark.parametrize("write", [write_jsonl, write_csv])
def test_an_export_that_fills_the_disk_leaves_no_file(folder, tmp_path, write):
    with files_of_at_most(100), pytest.raises(OSError, match="File too large"):
        write(folder.items, 1, tmp_path / "out" / "export")
    assert list((tmp_path / "out").iterdir()) == []


class TestCommandLine:
    def test_out_and_back(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))
        assert loom(["review", "export", "--out", str(tmp_path / "none.jsonl")]) == 2
        assert "materialize review/queue first" in capsys.readouterr().err
        picture = ImageStore(tmp_path / "images").put(PICTURE)
        queue = [
            queued(number, kind) | {"image_ids": [picture.image_id]}
            for number, kind in enumerate(("dialogue", "rewrite", "dialogue"))
        ]
        out = tmp_path / "out.jsonl"
        monkeypatch.setattr(commands, "read_queue", lambda: queue)
        ReviewStore(tmp_path / "review.sqlite").close()
        export = ["review", "export", "--kind", "dialogue", "--out", str(out)]
        back = ["review", "import", str(out), "--reviewer", "ANN", "--round", "1"]

        assert loom(export) == 0
        assert "2 of 2 items need a decision in round 1" in capsys.readouterr().out
        assert loom(export) == 2
        assert "may have been filled in" in capsys.readouterr().err

        lines = [json.loads(line) | {"verdict": "accept"} for line in out.read_text().splitlines()]
        # The path leads to the very picture.
        assert Path(lines[0]["image_paths"][0]).read_bytes() == PICTURE
        out.write_text("".join(json.dumps(line) + "\n" for line in lines))
        # Names of accounts only, whatever their case.
        assert loom(back) == 2
        assert "There is no account 'ANN'" in capsys.readouterr().err
        other = str(tmp_path / "other.jsonl")
        assert loom([*export[:-1], other, "--reviewer", "nobody"]) == 2
        assert "There is no account 'nobody'" in capsys.readouterr().err
        Accounts(tmp_path / "review.sqlite").add("ann", "annotator")
        assert loom(back) == 0
        assert capsys.readouterr().out.startswith("2 decisions added, 0 known already")
        stored = ReviewStore(tmp_path / "review.sqlite").decisions()
        assert {decision.reviewer for decision in stored} == {"ann"}
        assert loom([*back[:-1], "2"]) == 2
        assert "has the role annotator, and this needs expert" in capsys.readouterr().err
        out.write_text("not json\n")
        assert loom(back) == 1
        assert capsys.readouterr().err.startswith("line 1: not JSON")
        sheet = [str(tmp_path / "out.csv"), "--format", "csv"]
        assert loom(["review", "export", "--out", *sheet]) == 0
        assert loom(["review", "import", *sheet, *back[3:]]) == 0
        assert "0 decisions added, 0 known already" in capsys.readouterr().out
        out.write_text("nothing")
        assert loom([*back, "--format", "csv"]) == 2
        assert "lacks the columns" in capsys.readouterr().err
