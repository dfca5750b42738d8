"""Parquet files of wit_base's form: texts without images, images without texts, nothing decoded."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from methods.ingest.wit import COLUMNS_READ
from resources.corpus import shard as fetching
from resources.corpus import wit_base
from resources.corpus.settings import CorpusError
from resources.corpus.shard import READER
from resources.corpus.wit_base import WitBaseShard

PAGE_COLUMNS = (
    *("language", "page_url", "attribution_passes_lang_id", "caption_alt_text_description"),
    *("caption_reference_description", "caption_title_and_reference_description"),
    *("context_page_description", "context_section_description", "hierarchical_section_title"),
    *("is_main_image", "page_changed_recently", "page_title", "section_title"),
)
"""Columns of `wit_features`, as wikimedia/wit_base has them."""

JPEG = b"\xff\xd8\xff\xe0 no picture at all \xff\xd9"
"""What would fail if anything decoded it."""


def page(language: str, title: str, **changes: str | None) -> dict[str, str | None]:
    return {
        **dict.fromkeys(PAGE_COLUMNS),
        "language": language,
        "page_url": f"https://{language}.wikipedia.org/wiki/{title}",
        "page_title": title,
        "caption_reference_description": f"A picture of {title}",
        "context_page_description": f"What {title} is.",
        "is_main_image": "true",
        "attribution_passes_lang_id": "True",
        **changes,
    }


def record(name: str, *pages: dict[str, str | None], **changes: object) -> dict[str, object]:
    """A record as it is published: the pages as one list for each column."""
    return {
        "image": {"bytes": JPEG + name.encode(), "path": None},
        "image_url": f"https://upload.wikimedia.org/wikipedia/commons/a/ab/{name}",
        "embedding": [0.25, -1.5],
        "metadata_url": f"http://commons.wikimedia.org/wiki/File:{name}",
        "original_height": 300,
        "original_width": 400,
        "mime_type": "image/jpeg",
        "caption_attribution_description": f"English: {name}",
        "wit_features": {column: [each[column] for each in pages] for column in PAGE_COLUMNS},
        **changes,
    }


TWO_TEXTS = {
    "caption_reference_description": None,
    "caption_title_and_reference_description": "Oak [SEP] An old oak",
}
RECORDS = [
    record("Owl.jpg", page("en", "Owl"), page("de", "Eulen")),
    record("Elm.jpg", image=None),
    record("Oak.jpg", page("en", "Oak", **TWO_TEXTS), page("en", "Tree", page_url="Tree")),
    record("Ash.jpg", page("en", "Ash"), image={"bytes": b"", "path": None}),
]


def published() -> Any:
    import datasets

    text, number = datasets.Value("string"), datasets.Value("int32")
    texts = ("image_url", "metadata_url", "mime_type", "caption_attribution_description")
    return datasets.Features(
        {
            **{"image": datasets.Image(), **dict.fromkeys(texts, text)},
            "embedding": datasets.Sequence(datasets.Value("float64")),
            **dict.fromkeys(("original_height", "original_width"), number),
            "wit_features": datasets.Sequence(dict.fromkeys(PAGE_COLUMNS, text)),
        }
    )


def written_by_datasets(records: list[dict], path: Path) -> None:
    import datasets

    datasets.Dataset.from_list(records, features=published()).to_parquet(path)


def written_as_lists(records: list[dict], path: Path) -> None:
    """With no word in the file of what `datasets` calls its columns."""
    schema = published().arrow_schema.remove_metadata()
    pq.write_table(pa.Table.from_pylist(records, schema), path)


def written_as_mappings(records: list[dict], path: Path) -> None:
    """Pages as a list of mappings."""

    def pages_of(lists: dict[str, list]) -> list[dict]:
        return [
            dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)
        ]

    turned = [each | {"wit_features": pages_of(each["wit_features"])} for each in records]
    schema = published().arrow_schema.remove_metadata()
    place = schema.get_field_index("wit_features")
    pages = pa.list_(pa.struct([(column, pa.string()) for column in PAGE_COLUMNS]))
    schema = schema.set(place, pa.field("wit_features", pages))
    pq.write_table(pa.Table.from_pylist(turned, schema), path)


def shard_at(path: Path) -> WitBaseShard:
    return WitBaseShard("a", str(path), path.parent / "downloads")


@pytest.fixture(
    params=[written_by_datasets, written_as_lists, written_as_mappings],
    ids=lambda writer: writer.__name__,
)
def shard(request, tmp_path) -> WitBaseShard:
    request.param(RECORDS, tmp_path / "a.parquet")
    return shard_at(tmp_path / "a.parquet")


def test_each_page_of_each_image_is_a_row_or_a_rejection(shard, tmp_path):
    staged = shard.stage(tmp_path)
    rows = pa.ipc.open_stream(staged.rows.path).read_all().to_pylist()
    assert [(row["line_number"], row["page_title"], row["language"]) for row in rows] == [
        *((1, "Owl", "en"), (2, "Eulen", "de"), (4, "Oak", "en"), (6, "Ash", "en"))
    ]
    assert {name: value for name, value in rows[0].items() if value is not None} == {
        "wit_shard": "a",
        "line_number": 1,
        "language": "en",
        "page_url": "https://en.wikipedia.org/wiki/Owl",
        "page_title": "Owl",
        "image_url": "https://upload.wikimedia.org/wikipedia/commons/a/ab/Owl.jpg",
        "caption_reference_description": "A picture of Owl",
        "caption_attribution_description": "English: Owl.jpg",
        **{"mime_type": "image/jpeg", "original_height": 300, "original_width": 400},
        **{"is_main_image": True, "attribution_passes_lang_id": True},
        "context_page_description": "What Owl is.",
    }
    assert rows[2]["caption_reference_description"] == "An old oak"

    rejected = pq.read_table(staged.rejected.paths[0]).to_pylist()
    assert [(each["kind"], each["reference"], each["reason"]) for each in rejected] == [
        ("row", "record 3", "no_page"),
        ("row", "record 5", "bad_url"),
    ]
    assert (staged.n_rows, staged.reasons) == (4, {"no_page": 1, "bad_url": 1})


def test_images_come_by_address_as_they_are_and_those_without_bytes_are_left_out(shard, tmp_path):
    assert shard.carries_images is True
    assert list(shard.images()) == [
        ("https://upload.wikimedia.org/wikipedia/commons/a/ab/Owl.jpg", JPEG + b"Owl.jpg"),
        ("https://upload.wikimedia.org/wikipedia/commons/a/ab/Oak.jpg", JPEG + b"Oak.jpg"),
    ]
    named = record("Ash.jpg", image={"bytes": None, "path": "Ash.jpg"})
    nowhere = record("Elm.jpg", image_url=None)
    written_as_lists([named, nowhere], tmp_path / "b.parquet")
    assert list(shard_at(tmp_path / "b.parquet").images()) == []


def without_column(path: Path, name: str) -> None:
    """Overwrite what the file has of a column, and leave the rest."""
    content = bytearray(path.read_bytes())
    metadata = pq.read_metadata(path)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            column = group.column(place)
            if column.path_in_schema.split(".")[0] == name:
                start = column.dictionary_page_offset or column.data_page_offset
                end = start + column.total_compressed_size
                content[start:end] = b"\xff" * (end - start)
    path.write_bytes(content)


@pytest.mark.parametrize("unread", ["image", "embedding", "metadata_url", "wit_features"])
def test_texts_and_images_are_read_without_what_they_do_not_need(shard, tmp_path, unread):
    without_column(shard.path, unread)
    if unread != "wit_features":
        assert shard.stage(tmp_path).n_rows == 4
    if unread != "image":
        assert len(list(shard.images())) == 2


@pytest.mark.parametrize("needed", COLUMNS_READ)
def test_damage_in_a_column_that_is_needed_is_refused(shard, tmp_path, needed):
    without_column(shard.path, needed)
    with pytest.raises(CorpusError, match="(?s)'a' cannot be read as wit_base's .*intact copy"):
        shard.stage(tmp_path)


@pytest.mark.parametrize("cut", [0, 4, 1000, -1])
def test_a_damaged_file_is_refused_and_says_what_to_do(tmp_path, cut):
    written_as_lists(RECORDS, tmp_path / "a.parquet")
    shard = shard_at(tmp_path / "a.parquet")
    shard.path.write_bytes(shard.path.read_bytes()[:cut])
    for use in (lambda: shard.stage(tmp_path), lambda: list(shard.images())):
        with pytest.raises(CorpusError, match="(?s)^Shard 'a' cannot be read as .* with an intact"):
            use()


def test_a_file_of_another_form_is_refused_in_one_sentence(tmp_path, capfd):
    pq.write_table(pa.table({f"c{n}": [1] for n in range(1_000)}), tmp_path / "a.parquet")
    with pytest.raises(CorpusError) as raised:
        shard_at(tmp_path / "a.parquet").stage(tmp_path)
    assert len(str(raised.value)) < 1_000 and "\n" not in str(raised.value)
    assert capfd.readouterr().err == ""


def test_a_file_with_more_records_than_its_bytes_can_hold_or_larger_ones_is_refused(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(wit_base, "FEW_RECORDS", 100)
    records = pa.Table.from_pylist([record("owl", page("en", "Owl"))])
    with pq.ParquetWriter(tmp_path / "a.parquet", records.schema, compression="zstd") as file:
        file.write_table(pa.concat_tables([records] * 10_000))
    with pytest.raises(CorpusError, match="says that it has 10,000 records, far more than"):
        shard_at(tmp_path / "a.parquet").stage(tmp_path)
    monkeypatch.setattr(wit_base, "MOST_RECORD_BYTES", 1_000_000)
    long = record("owl", page("en", "Owl", context_page_description="x " * 1_000_000))
    pq.write_table(pa.Table.from_pylist([long]), tmp_path / "a.parquet", compression="zstd")
    with pytest.raises(CorpusError, match="a record has more than 1,000,000 bytes"):
        shard_at(tmp_path / "a.parquet").stage(tmp_path)


def test_a_record_that_would_fill_the_disk_is_rejected_and_the_others_are_read(tmp_path):
    """A megabyte of text on a thousand pages is a gigabyte of rows, in a file of kilobytes."""
    pages = [page("en", f"Owl {number}") for number in range(1_000)]
    owls = record("Owl.jpg", *pages, caption_attribution_description="owl " * 240_000)
    table = pa.Table.from_pylist([owls, record("Ash.jpg", page("en", "Ash"))])
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    staged = shard_at(tmp_path / "a.parquet").stage(tmp_path)
    assert (staged.n_rows, staged.reasons, staged.broken) == (1, {"too_long": 1}, None)


def test_images_of_a_file_that_is_not_here_yet_are_fetched_first(monkeypatch, tmp_path):
    asked = []

    def download(url: str, target: Path, **_: object) -> Path:
        asked.append(url)
        written_as_lists(RECORDS, target)
        return target

    monkeypatch.setattr(fetching, "download", download)
    shard = WitBaseShard("a", "https://example.org/a.parquet", tmp_path / "downloads")
    for _ in range(2):
        assert len(list(shard.images())) == 2
    assert asked == ["https://example.org/a.parquet"]


ADDRESS = "hf://datasets/wikimedia/wit_base/data/a.parquet"


def hub_shard(monkeypatch, answer: str | Exception) -> WitBaseShard:
    raised = answer if isinstance(answer, Exception) else lambda path: f"{answer} of {path}"
    hub = Mock(ukey=Mock(side_effect=raised))
    monkeypatch.setattr("fsspec.url_to_fs", lambda url: (hub, url.removeprefix("hf://")))
    return WitBaseShard("a", ADDRESS, Path("unused"))


def test_a_file_on_the_hub_is_known_by_what_the_hub_says_of_it(monkeypatch):
    fingerprint = hub_shard(monkeypatch, "state 1").fetch(print)
    assert fingerprint == f"{READER}-state 1 of datasets/wikimedia/wit_base/data/a.parquet"
    for error in (FileNotFoundError("no such file"), RuntimeError("unreachable")):
        said = rf"'a' cannot be found on the hub \({error}\): correct hf"
        with pytest.raises(CorpusError, match=said):
            hub_shard(monkeypatch, error).fetch(print)


def test_a_file_on_the_hub_is_read_where_it_is(monkeypatch, tmp_path):
    """An error of the hub is reported with a way out."""
    filesystem = fsspec.filesystem("memory")
    written_as_lists(RECORDS[:1], tmp_path / "a.parquet")
    filesystem.pipe("/wikimedia/a.parquet", (tmp_path / "a.parquet").read_bytes())
    monkeypatch.setattr("fsspec.url_to_fs", lambda _: (filesystem, "/wikimedia/a.parquet"))
    shard = WitBaseShard("a", ADDRESS, tmp_path)
    assert shard.stage(tmp_path).n_rows == 2
    filesystem.rm("/wikimedia/a.parquet")
    with pytest.raises(CorpusError, match="'a' cannot be read .*: run again, or download the file"):
        shard.stage(tmp_path)
