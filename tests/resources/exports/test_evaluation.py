"""Forms that other tools evaluate models on, and their results as predictions."""

import ast
import base64
import json
import runpy
import zipfile
from pathlib import Path
from typing import Any

import datasets
import pandas
import pyarrow as pa
import pytest
import yaml

from methods.benchmarks import BENCHMARKS
from methods.evaluation.asking import AskingLimits
from methods.evaluation.dialogue import ask_dialogue
from methods.evaluation.items import Item, Turn
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.predictions import PredictionError, PredictionKey, predictions_of
from methods.evaluation.sample_logs import of_sample
from methods.exports.conversations import NamedPositions
from methods.mmdu.published import read_published
from methods.mmiu.predictions import places
from methods.model_text import without_reasoning
from methods.release import Edition
from resources.importing.answer_files import read_rows
from tests.resources.exports.conftest import written

pytestmark = pytest.mark.slow


class Tasks(yaml.SafeLoader):
    """Reads `!function` as the name that it has."""


Tasks.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


# --- VLMEvalKit ----------------------------------------------------------------------------------


def test_dialogues_in_vlmevalkit_s_table_are_read_as_mmdu_s(exported, dialogues, hostile, store):
    # The reader takes dialogues of a million characters.
    items = [*dialogues, *hostile[:-1]]
    folder = exported(items, "vlmevalkit")
    with (folder / "mmdu.tsv").open(newline="") as lines:
        read = list(read_published("mmdu.tsv", lines))
    for item, found in zip(items, read, strict=True):
        assert (found.item_id, found.turns) == (item.item_id, item.turns)
        assert list(found.images) == [store.read(image_id) for image_id in item.image_ids]


def test_questions_are_as_pandas_reads_them_for_vlmevalkit(exported, hostile, store):
    labels = {"category": "=c", "answer": "a label that is called like a column"}
    items = []
    for item in hostile:
        text = item.turns[1].question
        turn = Turn(1, text, (1, 2), {"key": "B"})
        choices = (text[:5_000], "that")
        items.append(Item(item.item_id, (turn,), item.image_ids, choices, labels=labels))
    folder = exported(items, "vlmevalkit")
    table = pandas.read_csv(folder / "mmdu.tsv", sep="\t", keep_default_na=False, dtype=str)
    assert list(table.columns) == [
        *("index", "item_id", "label_answer", "category", "question", "A", "B", "answer", "image")
    ]
    for number, (item, (_, row)) in enumerate(zip(items, table.iterrows(), strict=True), start=1):
        assert (row["index"], row["item_id"]) == (str(number), item.item_id)
        assert (row["question"], row["A"]) == (item.turns[0].question, item.choices[0])
        assert (row["answer"], row["category"]) == ("B", "=c")
        shown = [base64.b64decode(each) for each in ast.literal_eval(row["image"])]
        assert shown == [store.read(image_id) for image_id in item.image_ids]


# --- lmms-eval -----------------------------------------------------------------------------------


def test_lmms_eval_s_task_asks_with_pictures_where_they_enter(released, questions, tmp_path):
    edition = Edition("mmbench", "dev", "en")
    source = released(questions, name="mmbench-dev", edition=edition)
    folder = written(source, tmp_path / "out", "lmms-eval")
    task = yaml.load((folder / "mmbench_dev.yaml").read_text(), Tasks)
    assert task["output_type"] == "generate_until"
    docs = rows_of_task(folder, task, tmp_path)
    utils = runpy.run_path(str(folder / "utils.py"))
    functions = {value.split(".")[1] for name, value in task.items() if name.startswith("doc_to")}
    assert functions <= utils.keys() and task["process_results"] == "utils.process_results"

    passes = [doc for doc in docs if doc["item_id"] == "0"]
    assert [doc["trial"] for doc in passes] == ["shift-0", "shift-1", "shift-2"]
    assert [doc["target"] for doc in passes] == ["B", "A", "C"]
    (message,) = utils["doc_to_messages"](passes[1])
    kinds = [part["type"] for part in message["content"]]
    assert kinds == ["image", "image", "text"]
    assert "A. that\nB. =none\nC. this" in message["content"][2]["text"]
    said = ["The correct answer is B.", "\\boxed{A}", "答案是C"]
    results = [
        utils["process_results"](doc, [text])["vlm_loom"]
        for doc, text in zip(passes, said, strict=True)
    ]
    assert results[1] == {
        **{"item_id": "0", "trial": "shift-1", "turns": [1], "right": True},
        **{"item": "0", "passes": 3, "stratum": "", "group": "0"},
    }
    assert utils["score"](results) == 100.0
    assert utils["process_results"](passes[1], ["Both"])["vlm_loom"]["right"] is None
    missed = utils["process_results"](passes[2], ["(A)"])["vlm_loom"]
    assert utils["score"]([*results[:2], missed]) == 0.0, "right is what is right in all passes"
    metrics = [(each["metric"], each["aggregation"]) for each in task["metric_list"]]
    assert [(name, function.split(".")[1] in utils) for name, function in metrics] == [
        *((f"vlm_loom{name}", True) for name in ("", "_standard_error", "_unread"))
    ]
    assert "Circular/micro, of 100" in (folder / "README.md").read_text()


def test_lmms_eval_s_task_asks_on_after_the_model_s_own_answers(exported, dialogues, tmp_path):
    folder = exported(dialogues, "lmms-eval")
    task = yaml.load((folder / "mmdu.yaml").read_text(), Tasks)
    assert task["output_type"] == "generate_until_multi_round"
    doc = rows_of_task(folder, task, tmp_path)[0]
    utils = runpy.run_path(str(folder / "utils.py"))
    messages, ends, *_ = utils["doc_to_messages"](doc, round_idx=1, previous_output=["Mine."])
    texts = [[part.get("text", "picture") for part in each["content"]] for each in messages]
    assert texts == [
        ["First ", "picture", ", then ", "picture", ": which?"],
        ["Mine."],
        ["picture", "And this?"],
    ]
    assert [each["role"] for each in messages] == ["user", "assistant", "user"] and not ends
    for said in (["Mine.", "Mine, too."], [" "], ["[LMMS_EVAL_REQUEST_FAILED after 3] x"]):
        assert utils["doc_to_messages"](doc, round_idx=len(said), previous_output=said)[1]
    with pytest.raises(ValueError, match="dialogue/1 has several turns, and models that take"):
        utils["doc_to_visual"](doc)


class Counting:
    """A benchmark of one's own: F1 over texts, by rule."""

    judge_prompts = extractor_prompts = question_prompts = ()
    name, answer_version, judge_version, dimensions = "counting", "1", "1", ("F1",)
    metrics = (Mean(name="F1", lowest=0.0, highest=100.0),)
    ask = staticmethod(ask_dialogue)


@pytest.mark.parametrize("form", ["lmms-eval", "inspect-ai"])
@pytest.mark.parametrize(
    ("benchmark", "why"),
    [
        ("mmdu", "the judge of mmdu is a model"),
        ("counting", "counting has a rule of its own"),
        ("mmbench", "the answers are held out"),
        (None, "no benchmark says how"),
    ],
)
def test_a_task_that_cannot_compute_the_score_prints_none_and_says_why(
    form, benchmark, why, exported, dialogues, questions, tmp_path, monkeypatch
):
    monkeypatch.setitem(BENCHMARKS, "counting", Counting())
    items = dialogues if benchmark == "mmdu" else questions
    edition = Edition(benchmark, "test" if benchmark == "mmbench" else "dev", "en")
    folder = exported(items, form, edition=edition)
    page = (folder / "README.md").read_text()
    assert f"The task prints no score: {why}" in page and "of 100" not in page
    assert ("responses_api=false" in page) == (form == "inspect-ai")
    assert not (folder / "letter_scores.py").exists()
    if form == "lmms-eval":
        task = yaml.load((folder / "mmdu.yaml").read_text(), Tasks)
        assert [each["aggregation"] for each in task["metric_list"]] == ["utils.not_scored"]
        docs = rows_of_task(folder, task, tmp_path)
        utils = runpy.run_path(str(folder / "utils.py"))
        assert utils["process_results"](docs[0], ["A"])["vlm_loom"]["right"] is None
    else:
        records = map(json.loads, (folder / "data.jsonl").read_text().splitlines())
        assert {record["counted"] is None for record in records} == {True}


def rows_of_task(folder: Path, task: dict[str, Any], tmp_path: Path) -> Any:
    # lmms-eval looks for files from where the task stands.
    files = {
        split: [str(folder / path) for path in paths]
        for split, paths in task["dataset_kwargs"]["data_files"].items()
    }
    return datasets.load_dataset(
        task["dataset_path"], data_files=files, cache_dir=str(tmp_path / "cache")
    )[task["test_split"]]


# --- Their results -------------------------------------------------------------------------------


def found(items: list[Item], file: Path) -> dict[str, str]:
    read = predictions_of(
        type("Forms", (), {"places": staticmethod(places)}), items, read_rows(file)
    )
    return {place.item_id: text for place, text in read.texts.items()}


def test_a_log_of_lmms_eval_is_predictions(questions, tmp_path):
    file = tmp_path / "samples_mmbench_dev.jsonl"
    said = ["B", ["A"], [["=C\nbecause"]]]
    with file.open("w") as lines:
        for number, (item, text) in enumerate(zip(questions, said, strict=True)):
            scored = {"item_id": item.item_id, "right": 0.0}
            record = {"doc_id": number, "target": "B", "input": "…", "vlm_loom": scored}
            lines.write(json.dumps({**record, "filtered_resps": text}) + "\n")
    assert found(questions, file) == {"0": "B", "1": "A", "2": "=C\nbecause"}


def test_a_log_of_rounds_is_a_prediction_for_each_turn(dialogues, tmp_path):
    file = tmp_path / "samples_mmdu.jsonl"
    failed = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] x"
    with file.open("w") as lines:
        for item_id, turns, said in (
            ("dialogue/1", [1, 2], ["one", failed]),
            ("d2", [1], ["ended"]),
            ("d2", [9], ["x"]),
            ("gone", [1], ["x"]),
        ):
            scored = {"item_id": item_id, "turns": turns, "trial": "plain", "right": None}
            lines.write(json.dumps({"filtered_resps": [said], "vlm_loom": scored}) + "\n")
    forms = NamedPositions(BENCHMARKS["mmdu"], None, AskingLimits())
    found = predictions_of(forms, dialogues, read_rows(file))
    assert found.texts == {
        PredictionKey("dialogue/1", "plain", 1): "one",
        PredictionKey("dialogue/1", "plain", 2): "",
        PredictionKey("d2", "plain", 1): "ended",
    }
    assert found.counts == {"empty": 1, "unknown_pass": 1, "unknown": 1}


def sample(item_id: str, content: Any, epoch: int = 1) -> dict[str, Any]:
    output = {"choices": [{"message": {"role": "assistant", "content": content}}]}
    return {"id": item_id, "epoch": epoch, "output": output}


def zstd_zip(file: Path, members: dict[str, bytes], said_size: int | None = None) -> None:
    """A zip file whose members are packed by zstd, each in two frames."""
    codec = pa.Codec("zstd")
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            middle = len(data) // 2
            halves = (data[:middle], data[middle:])
            info = zipfile.ZipInfo(name)
            archive.writestr(info, b"".join(codec.compress(part, asbytes=True) for part in halves))
            info.compress_type = 93
            info.file_size = len(data) if said_size is None else said_size


def test_a_log_of_inspect_ai_is_predictions(questions, tmp_path):
    file = tmp_path / "log.eval"
    reasoning = {"type": "reasoning", "reasoning": "It is C."}
    samples = {
        "samples/0_epoch_1.json": sample("0", "B"),
        "samples/0_epoch_2.json": sample("0", "C", epoch=2),
        "samples/1_epoch_1.json": sample("1", [reasoning, {"type": "text", "text": "A"}]),
        "samples/2_epoch_1.json": {"id": 2, "epoch": 1, "output": {"choices": []}},
        "header.json": {"version": 2},
    }
    zstd_zip(file, {name: json.dumps(each).encode() for name, each in samples.items()})
    assert found(questions, file) == {"0": "B", "1": "A", "2": ""}
    (cut_off,) = of_sample(sample("2", [reasoning]))
    assert without_reasoning(cut_off["prediction"]).reasoning_only


@pytest.mark.parametrize("broken", ["text", "empty", "json", "list", "larger"])
def test_a_log_that_cannot_be_read_is_refused_in_a_sentence(broken, tmp_path):
    file = tmp_path / "log.eval"
    if broken == "text":
        file.write_text("no zip")
    else:
        texts = {"empty": None, "json": b"{", "list": b"[1]", "larger": b"{}" * 50}
        data = texts[broken]
        members = {} if data is None else {"samples/1.json": data}
        zstd_zip(file, members, 4 if broken == "larger" else None)
    with pytest.raises(PredictionError, match=rf"^{file} cannot be imported: [^.]*.*\.$"):
        read_rows(file)


def test_vlmevalkit_s_results_name_their_items(exported, questions, tmp_path):
    folder = exported(questions, "vlmevalkit")
    table = pandas.read_csv(folder / "mmdu.tsv", sep="\t", dtype=str)
    assert list(table["index"]) == ["0", "1", "2"], "ids that are numbers are indexes"
    results = table.drop(columns="image").assign(prediction=["A0", "A1", "A2"])
    results.to_csv(tmp_path / "results.tsv", sep="\t", index=False)
    assert found(questions, tmp_path / "results.tsv") == {"0": "A0", "1": "A1", "2": "A2"}
