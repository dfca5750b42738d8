"""Export a release as a Hugging Face dataset: Parquet shards with the images inside, and a dataset
card.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from methods.exports.croissant import CroissantFile, croissant
from methods.exports.dataset_card import DatasetCardInput, DatasetSplit, dataset_page
from methods.exports.rows import CreditedImage, ExportedItem, chat, table_row
from resources.exports.folder import ATTRIBUTION, MANIFEST, README
from resources.exports.source import ExportSource
from resources.files.bounded import file_hash

BYTES_A_GROUP = 16_000_000
"""A row group is written when its images and texts reach this size in bytes:
readers load whole row groups."""
EXAMPLE, CROISSANT = "example", "croissant.json"
MESSAGES = "messages"
"""The column that trainers such as TRL read, with `images`."""
FEATURES: Mapping[str, Any] = {
    "item_id": "string",
    "group_id": "string",
    "labels": [{"name": "string", "value": "string"}],
    "turns": [
        {
            "question": "string",
            "image_positions": ["int32"],
            **dict.fromkeys(("given", "answer", "key", "caption", "focus"), "string"),
        }
    ],
    "choices": ["string"],
    MESSAGES: [{"role": "string", "content": [dict.fromkeys(("type", "text"), "string")]}],
    "images": ["image"],
    "image_sources": [dict.fromkeys(CreditedImage._fields, "string")],
    "revision": "int32",
    "n_reviewers": "int32",
}
"""The columns with their types. `[type]` is a list of that type; a mapping is a struct with its
fields."""
WORDS = """\
from datasets import load_dataset

rows = load_dataset("{name}", "{config}", split="{split}")
rows[0]["turns"][0]["question"], rows[0]["images"][0].size"""
"""Code that loads the dataset. `name` is the name of the folder, or of the repository."""
_NAME = re.compile(r'^rows = load_dataset\("[^"]*"', re.MULTILINE)


def write(source: ExportSource, folder: Path, shard_bytes: int) -> None:
    """Write Parquet shards, example images, the dataset card and Croissant metadata.

    Args:
        source: The release.
        folder: The folder.
        shard_bytes: The size of a shard.
    """
    written = [_write_rows(each, folder, shard_bytes) for each in source.all()]
    example = next((example for _, _, example in written if example), None)
    left_out = sum((each.totals.left_out for each in source.all()), Counter())
    page = DatasetCardInput(
        [each.card for each in source.all()],
        source.licence,
        left_out,
        source.agreement(),
        {
            **{part.path: f"the rows of {part.release_id}" for part, _, _ in written},
            CROISSANT: "the same described in Croissant, for tools that read that",
            ATTRIBUTION: "whose each picture is",
            MANIFEST: "size and SHA-256 of each file",
        },
        [part for part, _, _ in written],
        yaml_features(FEATURES),
        example,
        _example_pictures(example, source, folder),
        WORDS.format(
            name=f"{source.release_id}.huggingface", config=source.config, split=source.split
        ),
        source.stated_by_all,
    )
    (folder / README).write_text(dataset_page(page), encoding="utf-8")
    shards = [_shard(path, folder) for _, paths, _ in written for path in paths]
    # Croissant has no lists inside lists; the column repeats others.
    plain = {name: kind for name, kind in FEATURES.items() if name != MESSAGES}
    described = croissant(page, shards, plain)
    (folder / CROISSANT).write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n")


def page_in_repository(page: str, repository: str) -> str:
    """Adapt the dataset card to the repository that the dataset is loaded from.

    Args:
        page: The text of the card.
        repository: `owner/name`.
    """
    return _NAME.sub(f'rows = load_dataset("{repository}"', page)


def _write_rows(
    source: ExportSource, folder: Path, shard_bytes: int
) -> tuple[DatasetSplit, list[Path], ExportedItem | None]:
    """Write the shards of one release. Returns a description, the paths, and an example item."""
    config, split = source.config, source.split
    (folder / "data" / config).mkdir(parents=True, exist_ok=True)
    example: ExportedItem | None = None

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal example
        for item in source.items():
            example = example or (item if item.pictures else None)
            yield _row(item, source)

    paths = _write_shards(rows(), folder / "data" / config, split, shard_bytes)
    part = DatasetSplit(
        source.release_id,
        config,
        split,
        f"data/{config}/{split}-*.parquet",
        source.totals.items,
        sum(path.stat().st_size for path in paths),
        source.edition.language,
    )
    return part, paths, example


def _shard(path: Path, folder: Path) -> CroissantFile:
    return CroissantFile(path.relative_to(folder).as_posix(), file_hash(path), path.stat().st_size)


def _example_pictures(
    example: ExportedItem | None, source: ExportSource, folder: Path
) -> list[str]:
    paths = []
    for number, picture in enumerate(example.pictures if example else (), start=1):
        path = folder / EXAMPLE / f"{number}{source.path(picture.image_id).suffix}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(source.read(picture.image_id))
        paths.append(f"{EXAMPLE}/{path.name}")
    return paths


def _row(item: ExportedItem, source: ExportSource) -> dict[str, Any]:
    images = [
        {"bytes": source.read(picture.image_id), "path": source.path(picture.image_id).name}
        for picture in item.pictures
    ]
    return {**table_row(item), MESSAGES: chat(item), "images": images}


def _write_shards(
    rows: Iterable[dict[str, Any]], folder: Path, split: str, most: int
) -> list[Path]:
    """Write rows to Parquet files of about `most` bytes, `<split>-00000-of-00003.parquet` and so on."""
    import pyarrow.parquet as pq

    empty = pa.BufferOutputStream()
    pq.write_table(SCHEMA.empty_table(), empty)
    columns = [column.path for column in pq.ParquetFile(empty.getvalue()).schema]
    paths: list[Path] = []
    groups = _row_groups(rows)
    group, n_bytes = next(groups, ([], 0))
    while group or not paths:
        paths.append(folder / f"{split}-{len(paths)}.parquet")
        # Images are compressed already. With content-defined chunking, equal content in later
        # releases has equal chunks.
        with pq.ParquetWriter(
            paths[-1],
            SCHEMA,
            compression={name: "none" if "bytes" in name else "zstd" for name in columns},
            use_dictionary=False,
            write_statistics=False,
            use_content_defined_chunking=True,
        ) as writer:
            written = 0
            while group:
                writer.write_table(pa.Table.from_pylist(group, schema=SCHEMA))
                written += n_bytes
                group, n_bytes = next(groups, ([], 0))
                if written >= most:
                    break
    return [
        path.rename(path.with_name(f"{split}-{number:05d}-of-{len(paths):05d}.parquet"))
        for number, path in enumerate(paths)
    ]


def _row_groups(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[list[dict[str, Any]], int]]:
    """Yield groups of rows with their sizes in bytes."""
    group: list[dict[str, Any]] = []
    n_bytes = 0
    for row in rows:
        group.append(row)
        n_bytes += _size(row)
        if n_bytes >= BYTES_A_GROUP:
            yield group, n_bytes
            group, n_bytes = [], 0
    if group:
        yield group, n_bytes


def _size(row: dict[str, Any]) -> int:
    """Estimate the bytes of a row: its questions, answers and images."""
    texts = (text for turn in row["turns"] for text in (turn["question"], turn["answer"]) if text)
    return sum(map(len, texts)) + sum(len(image["bytes"]) for image in row["images"])


# --- The columns in each tool's own words ----------------------------------------------------------


def _arrow(what: Any) -> pa.DataType:
    if isinstance(what, list):
        return pa.list_(_arrow(what[0]))
    if isinstance(what, Mapping):
        return pa.struct([(name, _arrow(kind)) for name, kind in what.items()])
    if what == "image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    return pa.type_for_alias(what)


def _features(what: Any) -> Any:
    if isinstance(what, list):
        return {"feature": _features(what[0]), "_type": "List"}
    if isinstance(what, Mapping):
        return {name: _features(kind) for name, kind in what.items()}
    return {"_type": "Image"} if what == "image" else {"dtype": what, "_type": "Value"}


def yaml_features(what: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Convert the columns to the format of the YAML header of a dataset card."""
    return [{"name": name, **_yaml(kind)} for name, kind in what.items()]


def _yaml(what: Any) -> dict[str, Any]:
    if isinstance(what, list):
        inside = what[0]
        return {"list": yaml_features(inside) if isinstance(inside, Mapping) else inside}
    return {"dtype": what}


SCHEMA = pa.schema(
    [(name, _arrow(kind)) for name, kind in FEATURES.items()],
    metadata={"huggingface": json.dumps({"info": {"features": _features(FEATURES)}})},
)
