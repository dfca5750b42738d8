"""A release as a Hugging Face dataset: what `datasets` loads is every row and pixel of the release."""

import io
import re
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image

from methods.evaluation.items import Item, Turn
from methods.exports.dataset_card import HUB_LICENCES
from methods.exports.rows import chat, table_row
from methods.release import Edition
from resources.exports.folder import write_folder
from resources.exports.formats import form_named
from resources.exports.huggingface import FEATURES, SCHEMA, yaml_features
from resources.exports.source import ExportError, ExportSource
from resources.images.store import ImageStore

pytestmark = pytest.mark.slow


def written(source: ExportSource, folder: Path, shard_mb: int = 500) -> Path:
    write_folder(folder, form_named("huggingface", shard_mb), source)
    return folder


def loaded(folder: Path, cache: Path, split: str) -> list[dict[str, Any]]:
    return list(datasets.load_dataset(str(folder), split=split, cache_dir=str(cache)))


def header(folder: Path) -> dict[str, Any]:
    _, text, _ = (folder / "README.md").read_text().split("---\n", 2)
    return yaml.safe_load(text)


def expected(source: ExportSource) -> list[dict[str, Any]]:
    return [
        {**table_row(item), "messages": chat(item)} for batch in source.batches() for item in batch
    ]


def same_pixels(shown: Image.Image, data: bytes) -> bool:
    with Image.open(io.BytesIO(data)) as image:
        return (
            image.size == shown.size
            and image.convert("RGB").tobytes() == shown.convert("RGB").tobytes()
        )


@pytest.mark.parametrize("which", ["dialogues", "hostile", "questions"])
def test_every_row_and_pixel_comes_back(
    which: str, released, store: ImageStore, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    items: list[Item] = request.getfixturevalue(which)
    source = released(items)
    folder = written(source, tmp_path / "out")
    rows = loaded(folder, tmp_path / "cache", "test")
    images = [row.pop("images") for row in rows]
    assert rows == expected(source)
    for item, shown in zip(items, images, strict=True):
        assert len(shown) == len(item.image_ids)
        assert all(
            same_pixels(each, store.read(image_id))
            for each, image_id in zip(shown, item.image_ids, strict=True)
        )


def test_messages_show_each_picture_once_in_the_order_of_the_column(
    released, dialogues: list[Item], tmp_path: Path
) -> None:
    """As TRL reads them: as many parts of type image as there are images."""
    folder = written(released(dialogues), tmp_path / "out")
    rows = loaded(folder, tmp_path / "cache", "test")
    with_messages = [row for row in rows if row["messages"]]
    assert with_messages
    for row in with_messages:
        parts = [part for message in row["messages"] for part in message["content"]]
        assert sum(part["type"] == "image" for part in parts) == len(row["images"])
        assert {part["type"] for part in parts if part["text"] is not None} == {"text"}
        roles = [message["role"] for message in row["messages"]]
        assert roles == ["user", "assistant"] * (len(roles) // 2)


def test_each_row_says_whose_its_pictures_are_and_how_many_reviewed_it(
    released, dialogues: list[Item], tmp_path: Path
) -> None:
    folder = written(released(dialogues), tmp_path / "out")
    first, _ = loaded(folder, tmp_path / "cache", "test")
    assert [each["changes"] for each in first["image_sources"]] == ["none", "cut out", "none"]
    assert {(each["author"], each["licence"]) for each in first["image_sources"]} == {
        ("=A", "CC-BY-SA-4.0")
    }
    assert (first["n_reviewers"], first["revision"]) == (2, 1), "a policy is nobody"
    lines = (folder / "attribution.csv").read_text().splitlines()
    assert len(lines) == 4 and ",'=A," in lines[1], "no spreadsheet computes an author"


def test_the_lines_of_the_page_load_it_beside_its_folder(
    released, dialogues: list[Item], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = released(dialogues)
    folder = written(source, tmp_path / f"{source.release_id}.huggingface")
    (lines,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    found: dict[str, Any] = {}
    exec(lines, found)
    assert [row["item_id"] for row in found["rows"]] == ["dialogue/1", "d2"]


def test_config_and_split_are_language_and_split(
    released, questions: list[Item], tmp_path: Path
) -> None:
    edition = Edition("mmbench", "dev", "zh-Hans")
    folder = written(released(questions, name="mmbench-dev-zh", edition=edition), tmp_path / "out")
    assert datasets.get_dataset_config_names(str(folder)) == ["zh_Hans"]
    rows = datasets.load_dataset(str(folder), "zh_Hans", cache_dir=str(tmp_path / "cache"))
    assert {name: len(part) for name, part in rows.items()} == {"dev": 3}
    assert header(folder)["language"] == ["zh-Hans"]
    assert "multiple-choice" in header(folder)["task_categories"]


def test_splits_and_languages_of_one_dataset_stand_in_one_folder(
    released, questions: list[Item], dialogues: list[Item], tmp_path: Path
) -> None:
    def edition(split: str, language: str) -> ExportSource:
        named = f"mmbench-{split}-{language}"
        return released(questions[:2], name=named, edition=Edition("mmbench", split, language))

    source, *others = [edition("dev", "en"), edition("test", "en"), edition("dev", "zh")]
    source.stand_beside(others)
    folder = written(source, tmp_path / "out")
    assert datasets.get_dataset_config_names(str(folder)) == ["en", "zh"]
    rows = datasets.load_dataset(str(folder), "en", cache_dir=str(tmp_path / "cache"))
    assert [row["turns"][0]["key"] for row in rows["dev"]] == ["B", "B"]
    assert [row["turns"][0]["key"] for row in rows["test"]] == [None, None]
    assert "| `mmbench-dev-zh" in (folder / "README.md").read_text()
    with pytest.raises(ExportError, match="are both split dev of en: leave one of them out"):
        source.stand_beside([edition("dev", "en")])
    source.stand_beside(others)
    with pytest.raises(ExportError, match="^llava writes one release per folder"):
        write_folder(tmp_path / "llava", form_named("llava", 500), source)


def test_shards_have_the_size_that_is_set(released, tmp_path: Path, store: ImageStore) -> None:
    noise = [Image.effect_noise((600, 600), sigma) for sigma in range(60, 90)]
    ids = []
    for image in noise:
        data = io.BytesIO()
        image.save(data, "PNG")
        ids.append(store.put(data.getvalue()).image_id)
    items = [
        Item(f"{number}-{again}", (Turn(1, "?", (1,), {"answer": "!"}),), (image_id,))
        for again in range(3)
        for number, image_id in enumerate(ids)
    ]
    source = released(items)
    folder = written(source, tmp_path / "out", shard_mb=10)
    shards = sorted((folder / "data/default").iterdir())
    n = len(shards)
    assert n == 2 and [path.name for path in shards] == [
        f"test-{number:05d}-of-{n:05d}.parquet" for number in range(n)
    ]
    assert shards[0].stat().st_size > 10_000_000
    rows = loaded(folder, tmp_path / "cache", "test")
    assert [row["item_id"] for row in rows] == [item.item_id for item in items]


def test_a_release_of_which_nothing_is_left_is_not_written(
    released, questions: list[Item], tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match=r"no items to write .*; left out: share-alike 3\.$"):
        written(released(questions, left_out=["share-alike"]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_columns_are_the_same_in_the_file_and_on_the_page() -> None:
    of_file = datasets.Features.from_arrow_schema(SCHEMA)
    assert datasets.Features._from_yaml_list(yaml_features(FEATURES)) == of_file
    assert of_file.arrow_schema.equals(SCHEMA)


def test_the_header_has_what_the_hub_reads(released, dialogues: list[Item], tmp_path: Path) -> None:
    folder = written(released(dialogues), tmp_path / "out")
    from huggingface_hub import DatasetCard

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


def test_no_text_of_a_release_ends_the_header_or_opens_one(
    released, hostile: list[Item], tmp_path: Path
) -> None:
    for number, item in enumerate(hostile):
        folder = written(released([item]), tmp_path / f"out{number}")
        assert header(folder)["license"] == "cc-by-sa-4.0"
        assert len((folder / "README.md").read_text()) < 10_000


def test_what_is_held_out_is_in_no_file(released, questions: list[Item], tmp_path: Path) -> None:
    edition = Edition("mmbench", "test", "en")
    secret = [
        Item(
            item.item_id,
            tuple(
                Turn(turn.turn, turn.question, turn.image_positions, {"key": "KEY-SECRET"})
                for turn in item.turns
            ),
            item.image_ids,
            item.choices,
        )
        for item in questions
    ]
    source = released(secret, name="mmbench-test", edition=edition)
    folder = written(source, tmp_path / "out")
    assert not any(
        b"KEY-SECRET" in path.read_bytes() for path in folder.rglob("*") if path.is_file()
    )
    rows = loaded(folder, tmp_path / "cache", "test")
    assert {row["turns"][0]["key"] for row in rows} == {None}
    assert "held out" in (folder / "README.md").read_text()
