"""Files of answers, read as each benchmark's own evaluation reads them.

The readers here are written after what those do: which columns and keys they take, how they find a
file, how they count.
"""

import io
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from assets.release.published import write_imported
from methods.benchmarks import BENCHMARKS
from methods.evaluation.items import Item, Turn
from methods.evaluation.predictions import PredictionError, PredictionKey, predictions_of
from methods.evaluation.published import PublishedItem
from methods.mmbench.published import STEP, tsv_lines
from methods.release import Edition
from methods.results.submissions import dataset_name, file_names
from resources.importing.answer_files import read_rows
from resources.publishing.result_files import ResultError
from resources.publishing.submission_files import MOST_CHARACTERS, write_submissions
from resources.warehouse import Warehouse
from tests.assets.filled import put

pytestmark = pytest.mark.slow

HOSTILE = (
    '=HYPERLINK("http://x")',
    "+1; @SUM(A1)",
    "he said \"no\", 'yes'\n\tand #N/A",
    "\u202eright to left\u202c שלום مرحبا",
)
"""Texts that a cell could take for something else: the choices of a question."""
Said = Mapping[tuple[str, str, int], tuple[str, str | None]]
DEV = Edition("mmbench", "dev", "en", "imported")


def question(item_id: str, choices: Sequence[str], key: str | None, **labels: str) -> Item:
    known = {"category": "ocr", "l2-category": "coarse_perception", **labels}
    references: dict[Any, str] = {"key": key} if key else {}
    return Item(
        item_id, (Turn(1, f"={item_id}?", (), references),), (), tuple(choices), None, known
    )


@pytest.fixture
def home(empty_tables: Path, tmp_path: Path) -> Iterator[Warehouse]:
    (tmp_path / "home").mkdir()
    copied = shutil.copy(empty_tables, tmp_path / "home" / "warehouse.duckdb")
    warehouse = Warehouse(Path(copied))
    with warehouse.kept_open():
        yield warehouse


def released(
    home: Warehouse,
    items: Sequence[Item],
    edition: Edition,
    said: Mapping[str, Said],
    file: str = "some.tsv",
) -> dict[str, Any]:
    """The row of an imported release of these items, on which each model has said this."""
    name = f"{edition.benchmark}-x"
    release_id = write_imported(home, name, edition, items, {"file": file, "sha256": "0"})
    rows = [
        {"release_id": release_id, "model": model, "status": status, "answer": answer}
        | dict(zip(("item_id", "trial", "turn"), place, strict=True))
        for model, places in said.items()
        for place, (status, answer) in places.items()
    ]
    put(home, {"evaluate.answers": rows}, {"release_id": release_id})
    (row,) = home.select("release.releases", release_id=release_id).to_pylist()
    return row


def written(home: Warehouse, row: Mapping[str, Any], folder: Path) -> tuple[list[str], list[str]]:
    files, notes = write_submissions(home, row, folder)
    return [str(file.relative_to(folder)) for file in files], notes


# --- MMBench's server ------------------------------------------------------------------------------


def accepted(file: Path) -> pd.DataFrame:
    """What the server makes of an upload: it has to have these columns, and names in lower case."""
    assert file.suffix in (".xlsx", ".tsv", ".csv")
    data = pd.read_excel(file)
    data = data.rename(columns={name: name.lower() for name in data if name not in "ABCD"})
    assert {"index", "prediction", "question", *"ABCD"} <= set(data.columns)
    return data


def circular(data: pd.DataFrame, base: pd.DataFrame) -> dict[int, bool]:
    """Of each question whether no row of it that is there has another letter than its answer."""
    answers = dict(zip(base["index"], base["answer"], strict=True))
    data = data[data["index"].isin(answers)]
    hits = {}
    for index in data["index"][data["index"] < 1_000_000]:
        passes = data[data["index"] % 1_000_000 == index]
        hits[int(index)] = all(
            str(row["prediction"]).strip(" .()") == answers[row["index"]]
            for _, row in passes.iterrows()
        )
    return hits


def test_mmbench_is_scored_by_its_server_as_it_is_here(home, tmp_path):
    items = [
        question("3", ("red", "blue", "green"), "B"),
        question("41", HOSTILE, "D"),
        question("1900", ("yes", "no"), "A"),
    ]
    # Right in all passes; right in the first two of four; missed at once.
    said = {
        **{("3", f"shift-{shift}", 1): ("answered", "BAC"[shift]) for shift in range(3)},
        ("41", "shift-0", 1): ("answered", "(D)"),
        ("41", "shift-1", 1): ("refused", None),
        ("1900", "shift-0", 1): ("answered", "=B\0\x07"),
    }
    row = released(home, items, DEV, {"a/b": said, "no-images:a": said}, "MMBench_DEV_EN.tsv")
    files, notes = written(home, row, tmp_path)
    assert files == ["a-b_MMBench_DEV_EN.xlsx"], "what calibrates is no submission"
    assert notes[0].startswith("4 of 9 passes have no answer (lost, declined by a filter, or not")
    assert notes[1].startswith("2 control characters") and len(notes) == 2
    file = tmp_path / files[0]
    data = accepted(file)
    passes = {3: 3, 41: 4, 1900: 2}
    assert list(data["index"]) == [n + shift * STEP for n in passes for shift in range(passes[n])]
    assert data["index"].dtype == int and {"category", "l2-category"} <= set(data.columns)
    published = [
        PublishedItem(item.item_id, item.turns, (b"i",), item.choices, labels=item.labels)
        for item in items
    ]
    base = "".join(tsv_lines(published, lambda _: b"", circular=True))
    table = pd.read_csv(io.StringIO(base), sep="\t")
    # Its own file has the same rows: choices, categories and questions, whatever they look like.
    for name in ("index", "question", *"ABCD", "category", "l2-category"):
        both = zip(data[name], table[name], strict=True)
        assert all(one == other or (pd.isna(one) and pd.isna(other)) for one, other in both), name
    assert tuple(data.loc[3, list("ABCD")]) == HOSTILE and data["question"][3] == "=41?"
    assert data["prediction"][7] == "=B\ufffd\ufffd", "a formula is the text that it is written as"
    assert circular(data, table) == {3: True, 41: False, 1900: False}
    # It comes back as predictions on the same passes.
    forms = BENCHMARKS["mmbench"].predictions
    assert forms
    back = predictions_of(forms, items, read_rows(file))
    assert (back.n_rows, back.n_items, back.counts) == (9, 3, {})
    kept = {
        PredictionKey(item_id, trial): text or "Z"
        for (item_id, trial, _), (_, text) in said.items()
    }
    kept[PredictionKey("1900", "shift-0")] = "=B\ufffd\ufffd"
    assert {place: back.texts[place] for place in kept} == kept
    assert set(back.texts.values()) <= set(kept.values())
    before = file.read_bytes()
    written(home, row, tmp_path)
    assert file.read_bytes() == before


def test_what_a_server_needs_and_an_import_lacks_is_said(home, tmp_path):
    bare = Item("q", (Turn(1, "Which?", (), {"key": "A"}),), (), ("a", "b", "c", "d", "e"))
    said = {("q", "shift-0", 1): ("answered", "x" * 40_000 + "B")}
    other = {("q", "shift-0", 1): ("answered", "B")}
    row = released(home, [bare], DEV, {"m": said, "n": other})
    (file, _), notes = written(home, row, tmp_path)
    data = accepted(tmp_path / file)
    assert list(data["index"]) == [1, *(1 + shift * STEP for shift in range(1, 5))]
    assert data["prediction"][0] == "x" * (MOST_CHARACTERS - 1) + "B"
    beginnings = (
        "Its ids are not numbers, so that index has the places of its questions: ",
        "The release has no label category and no l2-category",
        "1 question with more than four choices: ",
        "m: 1 texts are cut to their last 32,767 characters",
    )
    for note, beginning in zip(notes[1:], beginnings, strict=True):
        assert note.startswith(beginning)


# --- Released scorers ------------------------------------------------------------------------------


def accuracy(folder: Path, model: str) -> dict[str, float]:
    """MMIU's scorer: of each task's folder, letters in `output`; empty is Z, no output is left out."""
    found = {}
    for task in folder.iterdir():
        records = json.loads((task / model / "metadata_info.json").read_text())
        assert all({"options", "question"} <= record.keys() for record in records)
        choices = [record[model].strip() or "Z" for record in records]
        known = [
            choice.strip(".,()").lower() in record["output"].strip().lower()
            for choice, record in zip(choices, records, strict=True)
            if record["output"] is not None
        ]
        found[task.name] = sum(known) / len(known) if known else -1.0
    return found


@pytest.mark.parametrize("held_out", [False, True])
def test_mmiu_has_a_folder_for_each_task_and_no_answer_that_is_held_out(held_out, home, tmp_path):
    items = [
        question("t-1", HOSTILE, "A", task="spot-the-diff", subset="../spot"),
        question("t-2", ("a", "b"), "B", task="spot-the-diff", subset="../spot"),
        question("u-1", ("a", "b"), "B", task="point-tracking"),
    ]
    said = {
        ("t-1", "plain", 1): ("answered", "(A)."),
        ("t-2", "plain", 1): ("refused", None),
        ("u-1", "plain", 1): ("answered", "b"),
        ("u-1", "retest-1", 1): ("answered", "a"),
    }
    edition = Edition("mmiu", None, None, "imported", held_out)
    row = released(home, items, edition, {"options": said}, "all.json")
    files, notes = written(home, row, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "out"]
    assert len(files) == 2 and all(file.endswith("/options-/metadata_info.json") for file in files)
    found = sorted(accuracy(tmp_path / "out", "options-").values())
    assert found == ([-1.0, -1.0] if held_out else [0.5, 1.0])
    assert notes[0] == (
        "1 of 3 answers are none (lost or declined) and empty, which MMIU's scorer reads as Z."
    )
    assert len(notes) == 1 + held_out
    # It comes back as predictions of the same model on the same items.
    forms = BENCHMARKS["mmiu"].predictions
    assert forms
    back = predictions_of(forms, items, read_rows(tmp_path / "out", model="options"))
    assert back.texts == {
        PredictionKey("t-1", "plain"): "(A).",
        PredictionKey("t-2", "plain"): "",
        PredictionKey("u-1", "plain"): "b",
    }
    assert back.counts == {"empty": 1}


def test_a_file_of_a_submission_that_is_a_link_out_of_it_is_not_followed(tmp_path):
    (tmp_path / "secret.json").write_text('[{"a": "A", "question": "q"}]')
    (tmp_path / "out" / "task" / "a").mkdir(parents=True)
    (tmp_path / "out" / "task" / "a" / "metadata_info.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(PredictionError, match="cannot be imported: .* is a link out of"):
        read_rows(tmp_path / "out", model="a")


@pytest.mark.parametrize("models", [("a",), ("a", "b")])
def test_a_folder_without_the_model_names_those_that_it_has(models, tmp_path):
    for model in models:
        (tmp_path / "task" / model).mkdir(parents=True)
        (tmp_path / "task" / model / "metadata_info.json").write_text("[]")
    with pytest.raises(
        PredictionError,
        match=rf"MODEL is c; it has the models {', '.join(models)}: give the name of one of them\.$",
    ):
        read_rows(tmp_path, model="c")


def test_responses_on_alignmmbench_are_a_line_each(home, tmp_path):
    history = (Turn(1, "Erst?", (), {}, "Ja."), Turn(2, "Und dann?", (), {"answer": "Nein."}))
    texts = {"1-0": 'a "quote"\nand\u2028a line', "2-0": "=cmd\0", "3-0": None}
    said = {(item_id, "plain", 1): ("given", "Ja.") for item_id in texts}
    said |= {
        (item_id, "plain", 2): ("answered" if text else "refused", text)
        for item_id, text in texts.items()
    }
    edition = Edition("alignmmbench", None, "zh", "imported")
    row = released(home, [Item(item_id, history) for item_id in texts], edition, {"m": said})
    (file,), notes = written(home, row, tmp_path)
    with (tmp_path / file).open(encoding="utf-8") as lines:
        responses = {row["question_id"]: row["predict"] for row in map(json.loads, lines)}
    assert responses == {**texts, "3-0": ""}
    assert notes == [
        "1 of 3 answers are none (lost or declined) and empty, which the judge reads as it is."
    ]


def test_convbench_has_a_file_for_each_setting_and_row(home, tmp_path):
    turns = tuple(Turn(turn, f"I{turn}", (), {"answer": f"R{turn}"}) for turn in (1, 2, 3))
    items = [Item(item_id, turns) for item_id in ("a", "b")]
    said: dict[tuple[str, str, int], tuple[str, str | None]] = {
        ("a", trial, turn): ("given", f"R{turn}") if turn <= given else ("answered", HOSTILE[turn])
        for given, trial in enumerate(("plain", "perfect-perception", "perfect-reasoning"))
        for turn in (1, 2, 3)
    }
    said["b", "plain", 1] = ("answered", "off: - [x]\0")
    row = released(home, items, Edition("convbench", None, None, "imported"), {"m": said})
    files, notes = written(home, row, tmp_path)
    assert files == ["m/0/1.yaml", "m/0/2.yaml", "m/1/1.yaml", "m/2/1.yaml"]
    read = [yaml.safe_load((tmp_path / file).read_text(encoding="utf-8")) for file in files]
    names = [f"{ordinal}_turn_answer" for ordinal in ("first", "second", "third")]
    asked = dict(zip(names, HOSTILE[1:], strict=True))
    assert read[0] == asked
    assert read[1] == {names[0]: "off: - [x]\0", names[1]: "", names[2]: ""}
    assert [list(each) for each in read[2:]] == [names[1:], names[2:]]
    assert read[3][names[2]] == asked[names[2]]
    assert notes[1].startswith("2 of 6 conversations have no answer and no file")


def test_mmdu_has_the_authors_record_with_the_answers(home, tmp_path):
    turns = tuple(Turn(turn, f"Q{turn}", (), {"answer": "REFERENCE"}) for turn in (1, 2))
    items = [Item("../d", turns), Item("7", turns)]
    said = {("7", "plain", 1): ("answered", "=1\0"), ("../d", "plain", 2): ("answered", HOSTILE[3])}
    row = released(home, items, Edition("mmdu", None, None, "imported"), {"m": said})
    files, notes = written(home, row, tmp_path / "out")
    assert files == ["m/--d.json", "m/7.json"]
    record = json.loads((tmp_path / "out" / "m" / "7.json").read_text(encoding="utf-8"))
    spoken = [each["value"] for each in record["conversations"] if each["from"] == "assistant"]
    assert spoken == ["=1\0", ""]
    assert not any(b"REFERENCE" in (tmp_path / "out" / file).read_bytes() for file in files)
    assert notes[-1] == (
        "1 dialogue with an id that names no file: MMDU's scorer looks for it by its id."
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "out"]


# --- What is refused, and names --------------------------------------------------------------------


def test_without_answers_or_a_form_nothing_is_written(home, tmp_path):
    row = released(home, [question("1", ("a", "b"), "A")], DEV, {})
    out = tmp_path / "out"
    with pytest.raises(ResultError, match=r"has no answers yet: run vlm-loom run evaluate\.$"):
        write_submissions(home, row, out)
    with pytest.raises(ResultError, match="is not a release of a benchmark with an evaluation"):
        write_submissions(home, {**row, "benchmark": "own"}, out)
    assert not out.exists()


def test_answers_that_tell_held_out_references_are_not_written_into_the_reports(
    home, tmp_path, monkeypatch
):
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "home"))
    said = {"m": {("1", "shift-0", 1): ("answered", "A")}}
    edition = replace(DEV, split="test", held_out=True)
    row = released(home, [question("1", ("a", "b"), "A")], edition, said)
    reports = tmp_path / "home" / "reports"
    with pytest.raises(ResultError, match="add --to with another folder"):
        write_submissions(home, row, reports / "results" / row["release_id"])
    assert not reports.exists()
    assert len(written(home, row, tmp_path / "out")[0]) == 1


def test_names_of_files_are_safe_tell_names_apart_and_are_short_enough(home, tmp_path):
    names = ("a/b", "a:b", "..", "", "\0", "שלום", "x" * 300, "x" * 200)
    found = file_names(names)
    assert len(set(found.values())) == len(names) and found["a/b"] == "a-b"
    for safe in found.values():
        assert safe and not set("/\\\0:") & set(safe) and not safe.startswith(".")
    # Long ones in other scripts, too.
    said = {("1", "shift-0", 1): ("answered", "A")}
    models = {"模" * 80: said, "模" * 79: said}
    items = [question("1", ("a", "b"), "A")]
    row = released(home, items, DEV, models, f"MMBench_{'题' * 80}.tsv")
    files, _ = written(home, row, tmp_path / "out")
    name = f"{'模' * 33}{{}}_MMBench_{'题' * 30}.xlsx"
    assert files == [name.format(""), name.format("-2")]


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ({"file": "MMBench_TEST_EN_V11.tsv", "split": "test"}, "MMBench_TEST_EN_V11"),
        ({"file": "q.tsv", "split": "dev", "language": "zh-CN"}, "MMBench_DEV_CN"),
        ({"file": "q.tsv", "split": "../x", "language": "en"}, "MMBench_--X_EN"),
        ({"file": "q.tsv"}, "r-1"),
        ({"file": "MMBench_DEV_EN.tsv", "origin": "built"}, "r-1"),
    ],
)
def test_a_data_set_is_called_as_its_published_file(card, name):
    file = card.pop("file")
    known = {"release_id": "r-1", "benchmark": "mmbench", "origin": "imported", **card}
    settings = {"release.releases": {"file": file}}
    assert dataset_name({**known, "settings": settings}) == name
