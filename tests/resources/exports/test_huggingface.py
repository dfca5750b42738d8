"""A release as a Hugging Face dataset: what `datasets` loads, and `mlcroissant` by its description in
Croissant 1.1, is every row and pixel of the release."""

import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import mlcroissant
import pyarrow.parquet as pq
import pytest
import yaml
from absl import logging as absl_logging
from huggingface_hub import DatasetCard
from PIL import Image

from methods.evaluation.items import Item, Turn
from methods.exports.croissant import CONFORMS_TO
from methods.exports.dataset_card import HUB_LICENCES
from methods.exports.rows import chat, table_row
from methods.release import Edition
from resources.exports import huggingface
from resources.exports.source import ExportError, ExportSource
from tests.resources.exports.conftest import written
from tests.resources.folder_content import everything

pytestmark = pytest.mark.slow

# absl, which mlcroissant imports, would close the stream that pytest captures into when Dagster sets up
# logging.
absl_logging.get_absl_handler().python_handler.setStream(sys.__stderr__)


def loaded(folder: Path, cache: Path, split: str) -> list[dict[str, Any]]:
    return list(datasets.load_dataset(str(folder), split=split, cache_dir=str(cache)))


def header(folder: Path) -> dict[str, Any]:
    _, text, _ = (folder / "README.md").read_text().split("---\n", 2)
    return yaml.safe_load(text)


def text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def field_of(record: dict[str, Any], name: str) -> Any:
    """A field of a record as `mlcroissant` has it: texts are bytes, and lists are arrays."""
    value = record[f"items/{name}"]
    if name == "choices":
        return [text(each) for each in value or ()]
    if name not in ("labels", "image_sources", "turns"):
        return text(value)
    rows = [{key.rpartition("/")[2]: text(each) for key, each in row.items()} for row in value]
    return [
        {key: list(each) if key == "image_positions" else each for key, each in row.items()}
        for row in rows
    ]


def same_pixels(shown: Image.Image, data: bytes) -> bool:
    with Image.open(io.BytesIO(data)) as image:
        return (
            image.size == shown.size
            and image.convert("RGB").tobytes() == shown.convert("RGB").tobytes()
        )


@pytest.mark.parametrize("which", ["dialogues", "hostile", "questions"])
def test_every_row_and_pixel_comes_back(which, released, store, tmp_path, request):
    items: list[Item] = request.getfixturevalue(which)
    source = released(items)
    folder = written(source, tmp_path / "out", "huggingface")
    batches = list(source.items())
    rows = loaded(folder, tmp_path / "cache", "test")
    dataset = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors and not dataset.metadata.ctx.issues.warnings
    images = [row.pop("images") for row in rows]
    assert rows == [{**table_row(item), "messages": chat(item)} for item in batches]
    described = [table_row(item) for item in batches]
    records = list(dataset.records("items"))
    for row, record in zip(described, records, strict=True):
        assert {name: field_of(record, name) for name in row} == row
    for item, shown, record in zip(items, images, records, strict=True):
        for pictures in (shown, record["items/images"] or []):
            assert len(pictures) == len(item.image_ids)
            for each, image_id in zip(pictures, item.image_ids, strict=True):
                assert same_pixels(each, store.read(image_id))


def test_each_row_says_whose_its_pictures_are_and_how_many_reviewed_it(
    exported, dialogues, tmp_path
):
    folder = exported(dialogues)
    first, second = loaded(folder, tmp_path / "cache", "test")
    sources = first["image_sources"]
    assert [each["changes"] for each in sources] == ["none", "cut out", "none"]
    assert {(each["author"], each["licence"]) for each in sources} == {("=A", "CC-BY-SA-4.0")}
    assert (first["n_reviewers"], first["revision"]) == (2, 1), "a policy is nobody"
    lines = (folder / "attribution.csv").read_text().splitlines()
    assert len(lines) == 4 and ",'=A," in lines[1], "no spreadsheet computes an author"
    # As TRL reads messages: as many parts of type image as there are images.
    for row in (first, second):
        parts = [part for message in row["messages"] for part in message["content"]]
        assert sum(part["type"] == "image" for part in parts) == len(row["images"])
        assert {part["type"] for part in parts if part["text"] is not None} == {"text"}
        roles = [message["role"] for message in row["messages"]]
        assert roles == ["user", "assistant"] * (len(roles) // 2) != []


def test_the_lines_of_the_page_load_it_beside_its_folder(
    released, dialogues, tmp_path, monkeypatch
):
    source = released(dialogues)
    folder = written(source, tmp_path / f"{source.release_id}.huggingface", "huggingface")
    (lines,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    found: dict[str, Any] = {}
    exec(lines, found)
    assert [row["item_id"] for row in found["rows"]] == ["dialogue/1", "d2"]


def test_splits_and_languages_of_one_dataset_stand_in_one_folder(
    released, questions, image_ids, tmp_path
):
    def edition(split: str, language: str, *more: Item) -> ExportSource:
        named, of = f"mmbench-{split}-{language}", Edition("mmbench", split, language)
        licences = {image_ids[2]: "CC-BY-NC-2.0"}
        items = [*questions[:2], *more]
        return released(items, name=named, edition=of, licences=licences, left_out=["NC"])

    unfree = replace(questions[2], image_ids=(image_ids[2],) * 2)
    source, *others = [
        edition("dev", "en"),
        edition("test", "en", unfree),
        edition("dev", "zh-Hans"),
    ]
    source.stand_beside(others)
    folder = written(source, tmp_path / "out", "huggingface")
    assert datasets.get_dataset_config_names(str(folder)) == ["en", "zh_Hans"]
    rows = datasets.load_dataset(str(folder), "en", cache_dir=str(tmp_path / "cache"))
    assert [row["turns"][0]["key"] for row in rows["dev"]] == ["B", "B"]
    assert [row["turns"][0]["key"] for row in rows["test"]] == [None, None]
    page = (folder / "README.md").read_text()
    assert "| `mmbench-dev-zh" in page
    assert "| Items left out of these files: NC | 1 |" in page
    assert header(folder)["language"] == ["en", "zh-Hans"]
    assert "multiple-choice" in header(folder)["task_categories"]
    with pytest.raises(ExportError, match="are both split dev of en: leave one of them out"):
        source.stand_beside([edition("dev", "en")])
    source.stand_beside(others)
    with pytest.raises(ExportError, match="^llava writes one release per folder"):
        written(source, tmp_path / "llava", "llava")


def test_shards_have_the_size_that_is_set(exported, tmp_path, store, monkeypatch):
    monkeypatch.setattr(huggingface, "BYTES_A_GROUP", 100_000)
    ids = []
    for sigma in range(60, 80):
        data = io.BytesIO()
        Image.effect_noise((300, 300), sigma).save(data, "PNG")
        ids.append(store.put(data.getvalue()).image_id)
    turn = Turn(1, "?", (1,), {"answer": "!"})
    items = [Item(f"{number}", (turn,), (image_id,)) for number, image_id in enumerate(ids)]
    folder = exported(items, shard_mb=1)
    shards = sorted((folder / "data/default").iterdir())
    assert [path.name for path in shards] == [
        *("test-00000-of-00002.parquet", "test-00001-of-00002.parquet")
    ]
    assert shards[0].stat().st_size > 1_000_000
    rows = loaded(folder, tmp_path / "cache", "test")
    assert [row["item_id"] for row in rows] == [item.item_id for item in items]


def test_a_release_of_which_nothing_is_left_is_not_written(exported, questions, tmp_path):
    with pytest.raises(ExportError, match=r"no items to write .*; left out: share-alike 3\.$"):
        exported(questions, left_out=["share-alike"])
    assert not (tmp_path / "out").exists()


def test_the_header_has_what_the_hub_reads_and_the_description_what_responsible_use_needs(
    exported, dialogues
):
    folder = exported(dialogues, card={"writers": ["gpt-4o"]})
    card = DatasetCard.load(folder / "README.md")
    assert card.data.license == "cc-by-sa-4.0" and "cc-by-sa-4.0" in HUB_LICENCES
    assert card.data.size_categories == ["n<1K"]
    (info,) = header(folder)["dataset_info"]
    (shard,) = (folder / "data/default").iterdir()
    assert info["splits"][0]["num_examples"] == pq.read_metadata(shard).num_rows == 2
    for title in (
        *("Construction", "Review", "Quality", "What was left out", "Known limits"),
        *("Licence and attribution", "Example", "Files", "How to cite"),
    ):
        assert f"\n## {title}\n" in card.text
    assert "![picture 3](example/3.webp)" in card.text
    assert (folder / "example/3.webp").is_file()

    described = json.loads((folder / "croissant.json").read_text())
    assert described["conformsTo"] == list(CONFORMS_TO)
    assert described["license"] == "https://creativecommons.org/licenses/by-sa/4.0/"
    metadata = mlcroissant.Dataset(jsonld=described).metadata
    assert metadata.machine_annotation_tools == ["gpt-4o"]
    assert metadata.data_use_cases == ["evaluating vision-language models"]
    for of in ("data_collection", "data_limitations", "data_biases", "data_annotation_protocol"):
        assert getattr(metadata, of)


def test_no_text_of_a_release_ends_the_header_or_opens_one(released, hostile, tmp_path):
    header_in_a_text, long_text = hostile[-2:]
    for name, item in (("header", header_in_a_text), ("long", long_text)):
        folder = written(released([item]), tmp_path / name, "huggingface")
        assert header(folder)["license"] == "cc-by-sa-4.0"
        assert len((folder / "README.md").read_text()) < 10_000


def test_what_is_held_out_is_in_no_file(exported, questions, tmp_path):
    secret = [
        replace(item, turns=(replace(item.turns[0], references={"key": "KEY-SECRET"}),))
        for item in questions
    ]
    folder = exported(secret, name="mmbench-test", edition=Edition("mmbench", "test", "en"))
    assert not any(b"KEY-SECRET" in data for data in everything(folder).values())
    rows = loaded(folder, tmp_path / "cache", "test")
    assert {row["turns"][0]["key"] for row in rows} == {None}
    assert "held out" in (folder / "README.md").read_text()
