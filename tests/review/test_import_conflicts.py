"""Decisions on one item from several files and from the app: which are stored, which are conflicts."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from methods.review import Decision
from resources.review.store import ReviewStore
from review.import_export import Record, import_records
from tests.review.jsonl_folder import DAY, Folder, edited, queued


@pytest.fixture
def items():
    return [queued(0), queued(1), queued(2)]


@pytest.fixture
def store(tmp_path):
    return ReviewStore(tmp_path / "review.sqlite")


@pytest.fixture
def folder(tmp_path, items, store):
    return Folder(tmp_path, items, store)


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
        assert folder.export(2)[0]["content"]["turns"][0]["answer"] == "A lighthouse."

    @pytest.mark.parametrize("time", ["2999-01-01", "1970-01-01T00:00:00Z"])
    def test_a_decision_of_no_plausible_time_is_at_fault(self, folder, time):
        result = folder.back([folder.export(1)[0] | {"verdict": "accept", "decided_at": time}])
        assert (result.added, result.problems) == (
            0,
            [f"line 1: {time} is before 2020 or in the future."],
        )

    def test_what_was_decided_in_the_app_already_is_known(self, folder, store):
        line = folder.export(1)[0]
        app = Decision(
            "item-0", line["content_hash"], 1, "ann", "accept", None, None, None, 9.5, DAY
        )
        store.append([app])

        assert folder.back([line | {"verdict": "accept"}]).n_known == 1
        assert len(store.decisions()) == 1
        assert len(folder.back([edited(line, "A mill.")]).problems) == 1

    def test_of_two_imports_at_once_one_is_taken_and_one_reported(self, folder, store):
        lines = folder.export(1)
        ways = [edited(lines[0], f"Mill {number}.") for number in range(4)]
        start = Barrier(len(ways))

        def import_one(way):
            records = [Record("line 1", way)]
            start.wait()
            return import_records(folder.items, store, records, "ann", 1)

        with ThreadPoolExecutor(len(ways)) as threads:
            results = list(threads.map(import_one, ways))

        assert sorted(result.added for result in results) == [0, 0, 0, 1]
        assert sum(len(result.problems) for result in results) == 3

    def test_somebody_else_was_faster(self, folder):
        line = folder.export(1)[0]
        folder.back([line | {"verdict": "accept"}])

        result = folder.back([edited(line, "A mill.")], reviewer="bob")

        assert result.added == 0
        assert result.problems == [
            "line 1: conflict: item item-0 needs no decision in round 1 any more: decided by ann."
        ]

    def test_two_annotators_work_blind_from_two_files(self, folder, tmp_path):
        (tmp_path / "review.yaml").write_text("default: {annotators: 2}")
        folder.store = ReviewStore(tmp_path / "review.sqlite")
        ann, bob = (folder.export(1, reviewer=name)[0] for name in ("ann", "bob"))
        assert folder.back([edited(ann, "A mill.")]).added == 1

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

    def test_what_an_expert_rejected_is_mended_by_file(self, folder):
        line = folder.export(1)[0]
        folder.back([line | {"verdict": "accept"}])
        (second,) = folder.export(2)
        folder.back([second | {"verdict": "reject", "reason": "incomplete"}], "eve", 2)

        again = folder.export(1)[0]
        assert again["item_id"] == "item-0"
        refused = folder.back([again | {"verdict": "accept"}], "bob")
        assert "rejected by an expert: edit it" in refused.problems[0]
        assert folder.back([edited(again, "A mill.")]).added == 1
        assert folder.export(2)[0]["content"]["turns"][0]["answer"] == "A mill."

    def test_a_skip_is_kept_and_decides_nothing(self, folder, store):
        line = folder.export(1, reviewer="ann")[0]
        assert folder.back([line | {"verdict": "skip"}]).added == 1

        assert [event.verdict for event in store.decisions()] == ["skip"]
        assert len(folder.export(1, reviewer="ann")) == 2
        assert len(folder.export(1, reviewer="bob")) == 3
        # Who comes back to it may decide after all.
        assert folder.back([line | {"verdict": "accept"}]).added == 1
