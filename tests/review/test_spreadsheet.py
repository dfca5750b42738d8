"""The round trip through a spreadsheet: every text a row, nothing computed, nothing lost."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.errors import UserError
from methods.review import KINDS
from resources.review.store import ReviewStore
from review.import_export import import_records, items_to_export
from review.item_texts import item_texts, with_changed_texts
from review.spreadsheet import COLUMNS, guard_cell, read_csv, restore_cell, write_csv
from tests.review.items_of_every_kind import EDITS, HOSTILE, item_of

STARTS_A_FORMULA = tuple("=+-@\t\r")


class Sheet:
    """What a person does: opens the file, writes into cells, saves it."""

    def __init__(self, path, items):
        self.path, self.items = path, items
        self.store = ReviewStore(path / "review.sqlite")
        self.n_files = 0

    def opened(self, round=1, **options):
        self.n_files += 1
        path = self.path / f"{self.n_files}.csv"
        write_csv(items_to_export(self.items, self.store, round, **options), round, path)
        return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))

    def saved(self, rows, separator=",", line_end="\r\n", mark="\ufeff"):
        self.n_files += 1
        path = self.path / f"{self.n_files}.csv"
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, COLUMNS, delimiter=separator, lineterminator=line_end)
        writer.writeheader()
        writer.writerows(rows)
        path.write_bytes((mark + text.getvalue()).encode())
        return path

    def back(self, rows, reviewer="ann", round=1, **options):
        path = self.saved(rows, **options)
        return import_records(self.items, self.store, read_csv(path), reviewer, round)


def test_rows_of_two_contents_of_an_item_are_two_records(tmp_path):
    texts = [name for name in COLUMNS if name not in ("item_id", "content_hash", "round")]
    row = {"item_id": "i", "round": "1", **dict.fromkeys(texts, "")}
    path = Sheet(tmp_path, []).saved([{**row, "content_hash": each} for each in ("a", "b", "a")])
    assert [record.place for record in read_csv(path)] == ["line 2", "line 3"]


@pytest.fixture
def sheet(tmp_path):
    return Sheet(tmp_path, [item_of("rewrite"), item_of("dialogue"), item_of("reference")])


def row_of(rows, part, kind="dialogue"):
    return next(row for row in rows if row["kind"] == kind and restore_cell(row["part"]) == part)


class TestCells:
    @given(
        st.sampled_from(HOSTILE)
        | st.text(alphabet=st.characters(codec="utf-8"))
        | st.text("='+-@; 0a\t\r")
    )
    def test_every_text_comes_back_and_is_no_formula(self, text):
        assert restore_cell(guard_cell(text)) == text
        assert not guard_cell(text).strip().startswith(STARTS_A_FORMULA)

    def test_what_a_program_would_rewrite_is_guarded_and_so_is_what_follows_a_separator(self):
        for text in ("007", "3/4", "1e5", "May 5", "true", "-2", "12:30"):
            assert guard_cell(text) == "'" + text
            assert guard_cell(f"In {text} words.") == f"In {text} words."
            # Two apostrophes: one is of the text itself.
            assert restore_cell(guard_cell("'" + text)) == "'" + text
        for separator in ";\t":
            cell = guard_cell(f"a {separator}=HYPERLINK(1){separator} '@b")
            assert cell.split(separator)[1:] == ["'=HYPERLINK(1)", "' '@b"]


class TestExport:
    def test_a_row_a_text_in_reading_order_and_an_item_says_once_what_to_look_at(self, tmp_path):
        item = item_of("dialogue", image_ids=("f" * 64,))
        item["image_paths"] = ["images/ff.png"]
        item["context"] = {"page_urls": ["u1", "=u2"], "why": []}
        rows = Sheet(tmp_path, [item]).opened()
        assert [(row["part"], row["text"], row["look_at"]) for row in rows] == [
            ("turns.1.question", "A tower.?", "images/ff.png\npage urls: u1\n'=u2"),
            ("turns.1.answer", "A tower.", ""),
            ("turns.2.question", "And then?", ""),
            ("turns.2.answer", "Nothing, A tower.", ""),
        ]
        assert {(row["round"], row["new_text"]) for row in rows} == {("1", "")}


class TestEveryKind:
    @pytest.mark.parametrize("kind", KINDS)
    def test_hostile_texts_go_out_and_come_back_unchanged(self, tmp_path, kind):
        for number, text in enumerate(HOSTILE):
            item = item_of(kind, text)
            write_csv([item], 1, tmp_path / f"{number}.csv")

            (record,) = read_csv(tmp_path / f"{number}.csv")

            shown = {field.name: field.text for field in item_texts(kind, item["content"])}
            assert record.values["shown"] == shown, text
            assert (record.values["item_id"], record.values["round"]) == (item["item_id"], 1), text
            assert record.values["changes"] == {}, text

    @pytest.mark.parametrize("kind", KINDS)
    def test_an_edit_is_what_was_written_and_nothing_else(self, tmp_path, kind):
        sheet = Sheet(tmp_path, [item_of(kind)])
        changes, made = EDITS[kind]
        rows = sheet.opened()
        rows[0]["verdict"] = "Edit "
        for part, text in changes.items():
            row_of(rows, part, kind)["new_text"] = text

        assert sheet.back(rows).problems == []
        (decision,) = sheet.store.decisions()
        assert decision.edits == item_of(kind)["content"] | made

    def test_a_part_that_is_not_there_or_not_to_be_changed(self):
        content = item_of("rewrite")["content"]
        for part, words in (("turns.1.answer", "no text"), ("original", "not be changed")):
            with pytest.raises(ValueError, match=words):
                with_changed_texts("rewrite", content, {part: "x"})
        content = item_of("multiple_choice")["content"]
        assert with_changed_texts("multiple_choice", content, {"hint": ""})["hint"] is None


class TestImport:
    @pytest.mark.parametrize(("separator", "mark"), [(",", ""), (";", "\ufeff"), ("\t", "")])
    def test_as_other_programs_save_it(self, sheet, separator, mark):
        rows = sheet.opened()
        row_of(rows, "turns.2.answer").update(verdict="edit", new_text="one\ntwo; three, four")
        row_of(rows, "turns.2.question").update(new_text=" ")

        assert sheet.back(rows, separator=separator, mark=mark, line_end="\n").problems == []
        (decision,) = sheet.store.decisions()
        turn = {"question": "And then?", "answer": "one\ntwo; three, four"}
        assert decision.edits["turns"][1] == turn

    def test_a_part_with_two_new_texts_is_refused(self, sheet):
        row = row_of(sheet.opened(), "turns.1.answer") | {"verdict": "edit", "new_text": "A mill."}
        [problem] = sheet.back([row, row | {"new_text": "A barn."}]).problems
        assert problem == "line 2: turns.1.answer has another new_text on line 3."

    def test_line_breaks_that_a_program_wrote_its_own_way_are_no_edit(self, tmp_path):
        sheet = Sheet(tmp_path, [item_of("rewrite", "one\r\ntwo")])
        rows = sheet.opened()
        rows[0]["verdict"] = "accept"
        for row in rows:
            row["text"] = row["text"].replace("\r\n", "\n")

        assert sheet.back(rows).added == 1

    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            (
                {"turns.1.answer": {"verdict": "accept", "text": "A mill."}},
                "the text of turns.1.answer was changed where it was only to be read.",
            ),
            (
                {"turns.1.question": {"verdict": "accept"}, "turns.1.answer": {"verdict": "skip"}},
                "conflict: verdict of one item is 'accept' and 'skip'.",
            ),
            (
                {"turns.1.answer": {"verdict": "edit"}},
                "the verdict is edit and no text was changed: it would be accept.",
            ),
        ],
        ids=["written over in place", "two rows that differ", "nothing new"],
    )
    def test_what_is_wrong_with_an_item_is_reported_by_line(self, sheet, changes, problem):
        rows = sheet.opened()
        for part, cells in changes.items():
            row_of(rows, part).update(cells)
        # Below the head (line 1) stand the two rows of the rewrite; the dialogue begins on line 4.
        assert sheet.back(rows).problems == [f"line 4: {problem}"]
        assert sheet.store.decisions() == []

    def test_a_round_of_thousands_of_digits_is_reported_by_line(self, sheet):
        rows = sheet.opened()
        for row in rows:
            row["round"] = "1" * 5_000
        problems = sheet.back(rows).problems
        assert (
            problems[0].startswith("line 2: round is 1 or 2, not '111") and len(problems[0]) < 150
        )

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"item_id,\xe9\n", "CSV UTF-8"),
            (b"a,b\n1,2\n", "lacks the columns item_id"),
            (",".join(COLUMNS).encode() + b'\n"x', "the quote that opens on line 2"),
        ],
    )
    def test_what_is_no_such_file_is_one_sentence(self, tmp_path, data, words):
        (tmp_path / "in.csv").write_bytes(data)
        with pytest.raises(UserError, match=words):
            list(read_csv(tmp_path / "in.csv"))
