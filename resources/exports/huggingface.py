"""Export a release as a Hugging Face dataset: Parquet shards with the images inside, and a dataset
card.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from methods.exports.croissant import CroissantFile, croissant
from methods.exports.dataset_card import DatasetCardInput, DatasetSplit, dataset_page
from methods.exports.rows import CreditedImage, ExportedItem, chat, table_row
from resources.exports.folder import ATTRIBUTION, MANIFEST, README
from resources.exports.source import ExportSource
from resources.files.bounded import file_hash

if TYPE_CHECKING:
    import pyarrow.parquet as pq

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


def write(
    source: ExportSource,
    folder: Path,
    shard_bytes: int,
    files: Mapping[str, str] | None = None,
    form: str = "huggingface",
) -> None:
    """Write Parquet shards, example images, the dataset card and Croissant metadata.

    Args:
        source: The release.
        folder: The folder.
        shard_bytes: The size of a shard.
        files: Further files of the folder with their descriptions.
        form: The format that the folder belongs to.
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
            **(files or {}),
            **{part.path: f"the rows of {part.release_id}" for part, _, _ in written},
            CROISSANT: "the same described in Croissant, for tools that read that",
            ATTRIBUTION: "whose each picture is",
            MANIFEST: "size and SHA-256 of each file",
        },
        [part for part, _, _ in written],
        yaml_features(FEATURES),
        example,
        _example_pictures(example, source, folder),
        WORDS.format(name=f"{source.release_id}.{form}", config=source.config, split=source.split),
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

    Returns:
        The card with code that loads the dataset from the repository.
    """
    return _NAME.sub(f'rows = load_dataset("{repository}"', page)


def _write_rows(
    source: ExportSource, folder: Path, shard_bytes: int
) -> tuple[DatasetSplit, list[Path], ExportedItem | None]:
    """Write the shards of one release. Returns a description, the paths, and an example item."""
    config, split = source.config, source.split
    (folder / "data" / config).mkdir(parents=True, exist_ok=True)
    shards = _Shards(folder / "data" / config, split, shard_bytes)
    example: ExportedItem | None = None
    with shards:
        for batch in source.batches():
            example = example or next((item for item in batch if item.pictures), None)
            for item in batch:
                shards.add(_row(item, source))
    paths = shards.named()
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


class _Shards:
    """Writes Parquet files of about `most` bytes each, which `named` renames at the end."""

    def __init__(self, folder: Path, split: str, most: int) -> None:
        self._folder, self._split, self._most = folder, split, most
        self._rows: list[dict[str, Any]] = []
        self._waiting = self._written = 0
        self._paths: list[Path] = []
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> "_Shards":
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        if not self._paths:
            self._open()
        self._close()

    def add(self, row: dict[str, Any]) -> None:
        """Add a row."""
        self._rows.append(row)
        self._waiting += _size(row)
        if self._waiting >= BYTES_A_GROUP:
            self._flush()

    def named(self) -> list[Path]:
        """Rename the shards to `<split>-00000-of-00003.parquet` and so on, and return their paths."""
        names = []
        for number, path in enumerate(self._paths):
            name = f"{self._split}-{number:05d}-of-{len(self._paths):05d}.parquet"
            names.append(path.rename(path.with_name(name)))
        return names

    def _flush(self) -> None:
        if not self._rows:
            return
        if self._writer is None:
            self._open()
        assert self._writer is not None
        self._writer.write_table(pa.Table.from_pylist(self._rows, schema=SCHEMA))
        self._written += self._waiting
        self._rows, self._waiting = [], 0
        if self._written >= self._most:
            self._close()

    def _open(self) -> None:
        import pyarrow.parquet as pq

        path = self._folder / f"{self._split}-{len(self._paths)}.parquet"
        self._paths.append(path)
        # Images are compressed already. With content-defined chunking, equal content in later
        # releases has equal chunks.
        self._writer = pq.ParquetWriter(
            path,
            SCHEMA,
            compression={name: "none" if "bytes" in name else "zstd" for name in _columns(SCHEMA)},
            use_dictionary=False,
            write_statistics=False,
            use_content_defined_chunking=True,
        )

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer, self._written = None, 0


def _size(row: dict[str, Any]) -> int:
    """Estimate the bytes of a row: its questions, answers and images."""
    texts = (text for turn in row["turns"] for text in (turn["question"], turn["answer"]) if text)
    return sum(map(len, texts)) + sum(len(image["bytes"]) for image in row["images"])


# --- The columns in each tool's own words
# ------------------------------------------------------------


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


def _columns(schema: pa.Schema) -> Iterator[str]:
    """Yield the paths of a schema's leaf columns in a Parquet file."""
    for column in schema:
        yield from _leaves(column.name, column.type)


def _leaves(path: str, kind: pa.DataType) -> Iterator[str]:
    if pa.types.is_list(kind):
        yield from _leaves(f"{path}.list.element", kind.value_type)
    elif pa.types.is_struct(kind):
        for field in kind:
            yield from _leaves(f"{path}.{field.name}", field.type)
    else:
        yield path


SCHEMA = pa.schema(
    [(name, _arrow(kind)) for name, kind in FEATURES.items()],
    metadata={"huggingface": json.dumps({"info": {"features": _features(FEATURES)}})},
)
