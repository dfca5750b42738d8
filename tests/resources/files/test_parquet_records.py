"""Parquet files of kilobytes that hold gigabytes: their records are measured as they are decoded, and
the headers of their pages are compared with what pyarrow wrote."""

import base64
import gzip
import io
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resources.files import parquet_records
from resources.files.bounded import BoundedReadError
from resources.files.limited_process import LimitedProcessError
from resources.files.parquet_pages import PageHeaderError, pages_of
from resources.files.parquet_records import open_parquet, read_records

TEXT = "a" * 100_000


def repeated(path: Path, n_records: int) -> Path:
    """Write one text as the value of all records: it stands in the file once."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * n_records, pa.int32()), pa.array([TEXT]))
    pq.write_table(
        pa.table({"text": texts}),
        path,
        compression="zstd",
        dictionary_pagesize_limit=1 << 30,
        store_schema=False,
    )
    assert path.stat().st_size < 2_000
    return path


def with_small_sizes_in_the_footer(path: Path) -> Path:
    """Overwrite the sizes of the column and of its row group, as numbers of as many bytes."""
    content = path.read_bytes()
    group = pq.read_metadata(path).row_group(0)
    for size in {group.total_byte_size, group.column(0).total_uncompressed_size}:
        content = content.replace(varint(size, 0), varint(9, len(varint(size, 0))))
    path.write_bytes(content)
    assert pq.read_metadata(path).row_group(0).total_byte_size == 9
    assert pq.read_metadata(path).row_group(0).column(0).total_uncompressed_size == 9
    return path


def varint(number: int, width: int) -> bytes:
    """A number as Thrift writes it, with at least `width` bytes."""
    left, digits = number * 2, []
    while left or len(digits) < width:
        digits.append(left & 127 | 128)
        left >>= 7
    return bytes([*digits[:-1], digits[-1] & 127])


FOOTERS = pytest.mark.parametrize(
    "footer", [lambda path: path, with_small_sizes_in_the_footer], ids=["honest", "small sizes"]
)


@FOOTERS
def test_one_text_in_all_records_is_decoded_once_at_a_time(tmp_path, footer):
    path = footer(repeated(tmp_path / "a.parquet", 200))
    with path.open("rb") as file:
        before = pa.total_allocated_bytes()
        for batch in read_records(file, open_parquet(file), 1_000_000_000):
            assert batch.to_pylist() == [{"text": TEXT}]
            assert pa.total_allocated_bytes() - before < 10 * len(TEXT)


@FOOTERS
def test_a_record_that_is_too_large_is_not_decoded_whatever_the_footer_says(tmp_path, footer):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a" * 20_000_000]}), path, compression="zstd")
    assert path.stat().st_size < 20_000
    with footer(path).open("rb") as file:
        table, before = open_parquet(file), pa.total_allocated_bytes()
        with pytest.raises(BoundedReadError, match="a record has more than 10,000,000 bytes"):
            next(read_records(file, table, 1_000_000_000, most_record_bytes=10_000_000))
        assert pa.total_allocated_bytes() - before < 5_000_000


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(10_000), pa.map_(pa.string(), pa.int8())])
def test_a_list_that_repeats_one_text_is_refused_before_it_is_decoded(tmp_path, kind):
    path, texts = tmp_path / "a.parquet", [b"a" * 10_000] * 20_000
    if pa.types.is_map(kind):
        column = pa.array([[(text, 0) for text in texts]], kind)
    else:
        column = pa.array([texts], pa.list_(kind))
    pq.write_table(pa.table({"texts": column}), path, compression="zstd")
    assert path.stat().st_size < 20_000
    with path.open("rb") as file:
        before = pa.total_allocated_bytes()
        with pytest.raises(BoundedReadError, match="has more than|have more than"):
            next(read_records(file, open_parquet(file), 100_000_000))
        assert pa.total_allocated_bytes() - before < 5_000_000


def test_lists_in_another_encoding_and_columns_of_one_name_are_read(tmp_path):
    lists = pa.table({"a": [["xy", "xz"], ["xy"]]})
    encoding = {"a.list.element": "DELTA_BYTE_ARRAY"}
    pq.write_table(lists, tmp_path / "a.parquet", use_dictionary=False, column_encoding=encoding)
    # They would be too large if all texts were the long one.
    texts = pa.array([["x" * 100_000, *["y"] * 1_000]])
    names = pa.Table.from_arrays([texts] * 3, names=["a"] * 3)
    pq.write_table(names, tmp_path / "b.parquet")
    for name, n_rows in (("a", 2), ("b", 1)):
        with (tmp_path / f"{name}.parquet").open("rb") as file:
            batches = read_records(file, open_parquet(file), 600_000)
            assert sum(batch.num_rows for batch in batches) == n_rows


def test_records_with_nested_texts_come_back(tmp_path):
    rows = [
        {
            "a": ["x", "y", "x", None],
            "s": [{"k": "a"}, {"k": None}],
            "m": [("a", "1")],
            "f": [1, 2],
        },
        {"a": [], "s": None, "m": [], "f": [3, 4]},
    ]
    schema = pa.schema(
        {
            "a": pa.large_list(pa.string()),
            "s": pa.list_(pa.struct({"k": pa.binary()})),
            "m": pa.map_(pa.string(), pa.string()),
            "f": pa.list_(pa.int32(), 2),
        }
    )
    table = pa.Table.from_pylist(rows * 20, schema)
    pq.write_table(table, tmp_path / "a.parquet")
    with (tmp_path / "a.parquet").open("rb") as file:
        batches = list(read_records(file, open_parquet(file), 8_000))
    assert [row for batch in batches for row in batch.to_pylist()] == table.to_pylist()


def test_a_row_group_is_read_up_to_a_size(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_records, "MOST_GROUP_BYTES", 1_000_000)
    texts = [f"{n}" + "a" * 100_000 for n in range(20)]
    whole, parts = tmp_path / "whole.parquet", tmp_path / "parts.parquet"
    pq.write_table(pa.table({"text": texts}), whole)
    pq.write_table(pa.table({"text": texts}), parts, row_group_size=5)
    with whole.open("rb") as file, pytest.raises(BoundedReadError, match="smaller row groups"):
        next(read_records(file, open_parquet(file), 1_000_000_000))
    with parts.open("rb") as file:
        assert len(list(read_records(file, open_parquet(file), 1_000_000_000))) == 20


@FOOTERS
def test_records_are_read_up_to_a_size_of_all_together(tmp_path, footer):
    with footer(repeated(tmp_path / "a.parquet", 200)).open("rb") as file:
        records, n_read = read_records(file, open_parquet(file), 1_000_000), 0
        with pytest.raises(BoundedReadError, match="more than 1,000,000 bytes"):
            for _ in records:
                n_read += 1
    assert n_read == 9
    # A record that is too large is refused before it is made Python objects.
    path = repeated(tmp_path / "one.parquet", 1)
    with path.open("rb") as file, pytest.raises(BoundedReadError, match="a record has more than"):
        next(read_records(file, open_parquet(file), 1_000_000, most_record_bytes=99_999))


@pytest.mark.parametrize(
    ("character", "width"),
    [("a", 1), ("é", 1), ("字", 2), ("😀", 4)],
    ids=["a", "é", "字", "smile"],
)
@pytest.mark.parametrize("has_list", [False, True])
def test_a_record_has_the_bytes_that_its_texts_take_in_python(tmp_path, character, width, has_list):
    """There a text takes as many bytes for each character as for its widest one."""
    text = "a" * 100_000 + character
    value = [{"text": text}, {"text": "a"}] if has_list else text
    pq.write_table(pa.table({"value": [value]}), tmp_path / "a.parquet")
    with (tmp_path / "a.parquet").open("rb") as file:
        most = width * 100_000 + 1_000
        (batch,) = read_records(file, open_parquet(file), 1_000_000, most_record_bytes=most)
        assert batch.to_pylist() == [{"value": value}]
        records = read_records(file, open_parquet(file), 1_000_000, most_record_bytes=most - 1_000)
        with pytest.raises(BoundedReadError, match="a record has more than"):
            next(records)


@FOOTERS
def test_a_batch_has_many_records_only_where_pages_are_small(tmp_path, footer):
    with footer(repeated(tmp_path / "large.parquet", 200)).open("rb") as file:
        most_bytes = 10 * len(TEXT)
        batches = read_records(
            file, open_parquet(file), 1_000_000_000, None, most_bytes, batch_size=100
        )
        assert [batch.num_rows for batch in batches] == [9] * 22 + [2]
    numbers = pa.table({"number": range(300), "text": [str(n) for n in range(300)]})
    pq.write_table(numbers, tmp_path / "small.parquet", row_group_size=200)
    with (tmp_path / "small.parquet").open("rb") as file:
        batches = read_records(file, open_parquet(file), 1_000_000, batch_size=100)
        rows = [batch.to_pylist() for batch in batches]
    assert [len(batch) for batch in rows] == [100] * 3
    assert [row["number"] for batch in rows for row in batch] == list(range(300))


def test_lists_of_millions_of_nulls_are_refused_undecoded_where_their_column_is_read(tmp_path):
    nulls = pa.ListArray.from_arrays(pa.array([0, 5_000_001], pa.int32()), pa.nulls(5_000_001))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a"], "nulls": nulls}), path, compression="zstd")
    with path.open("rb") as file:
        (batch,) = read_records(file, open_parquet(file), 1_000, ["text"])
        assert batch.to_pylist() == [{"text": "a"}]
        before = pa.total_allocated_bytes()
        with pytest.raises(BoundedReadError, match="lists of a column have more than 5,000,000"):
            next(read_records(file, open_parquet(file), 1_000_000_000))
        assert pa.total_allocated_bytes() == before


def test_names_of_columns_and_fields_are_short_and_count_for_each_value(tmp_path):
    """Python has a name of a field again for each value."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [[{"n" * 900: None}] * 200_000]}), path)
    with path.open("rb") as file:
        table, before = open_parquet(file), pa.total_allocated_bytes()
        with pytest.raises(BoundedReadError, match="a record has more than 100,000,000 bytes"):
            next(read_records(file, table, 1_000_000_000))
        assert pa.total_allocated_bytes() - before < 5_000_000
    for table in ({"n" * 1_001: [1]}, {"a": [{"n" * 1_000: 1}]}):
        pq.write_table(pa.table(table), path)
        with path.open("rb") as file, pytest.raises(BoundedReadError, match="the name of a column"):
            open_parquet(file)


def test_the_values_of_a_column_without_lists_may_be_as_many_as_its_records(tmp_path, monkeypatch):
    monkeypatch.setattr("resources.files.parquet_records.MOST_VALUES", 2)
    path = repeated(tmp_path / "a.parquet", 3)
    with path.open("rb") as file:
        assert len(list(read_records(file, open_parquet(file), 1_000_000))) == 3


# Headers of pages

TABLE = pa.table(
    {
        "number": pa.array(range(10_000), pa.int64()),
        "text": [f"text {n % 7}" for n in range(10_000)],
        "list": pa.array([[n, None] for n in range(10_000)], pa.list_(pa.int32())),
        "struct": [{"bytes": bytes([n % 256]) * 9, "path": None} for n in range(10_000)],
    }
)


@pytest.mark.parametrize("compression", ["none", "zstd", "gzip"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_pages_have_the_sizes_and_values_of_their_columns(compression, version, is_dictionary):
    data = io.BytesIO()
    pq.write_table(
        TABLE,
        data,
        row_group_size=4_000,
        compression=compression,
        data_page_version=version,
        data_page_size=2_000,
        use_dictionary=is_dictionary,
        write_page_checksum=True,
    )
    metadata = pq.read_metadata(data)
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(place)
            pages = list(pages_of(data, chunk))
            assert len(pages) > 1 or chunk.path_in_schema == "struct.path"
            # The footer counts headers, too: about 30 bytes each, more with the statistics of a page.
            beside = chunk.total_uncompressed_size - sum(page.n_bytes for page in pages)
            assert 0 < beside < 150 * len(pages)
            assert sum(page.n_values for page in pages) == chunk.num_values
            assert (pages[0].n_values == 0) == chunk.has_dictionary_page


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"\x00", "has no sizes"),
        (b"\x15\x00\x15\x01\x15\x06\x00", "has no sizes"),
        (b"\x1c" * 30, "nested too deep"),
        (b"\x19\x00", "a field of type 9"),
        (b"\x15" + b"\xff" * 12, "too many digits"),
        (b"\x18" + b"\xff" * 9 + b"\x7f", "cut off"),
    ],
)
def test_what_is_no_header_is_refused(header, message):
    data = io.BytesIO()
    pq.write_table(pa.table({"n": [1, 2, 3]}), data, use_dictionary=False, compression="none")
    chunk = pq.read_metadata(data).row_group(0).column(0)
    data.seek(chunk.data_page_offset)
    data.write(header)
    with pytest.raises(PageHeaderError, match=message):
        list(pages_of(data, chunk))


class CountedFile(io.BytesIO):
    """A file that counts how often it is read."""

    n_reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.n_reads += 1
        return super().read(size)


@pytest.mark.parametrize(
    "header",
    [b"\x15\x00" * 3 + b"\x00", b"\x15\x00" * 3 + b"\x11" * 7_000 + b"\x00"],
    ids=["empty pages", "a long header"],
)
def test_pages_that_many_columns_share_are_not_read_for_each_of_them(header):
    file = CountedFile(header * (7_007 // len(header)))
    n_bytes = len(file.getvalue())
    chunk = SimpleNamespace(
        dictionary_page_offset=None,
        data_page_offset=0,
        total_compressed_size=n_bytes,
        total_uncompressed_size=0,
        num_values=1,
        path_in_schema="text",
    )
    group = SimpleNamespace(num_columns=1, num_rows=1, column=lambda _: chunk)
    of_list = {"max_repetition_level": 1, "physical_type": "BYTE_ARRAY"}
    schema = SimpleNamespace(column=lambda _: SimpleNamespace(length=0, **of_list))
    metadata = SimpleNamespace(num_row_groups=100, row_group=lambda _: group, schema=schema)
    with pytest.raises(PageHeaderError, match="take more bytes than the file"):
        next(read_records(file, SimpleNamespace(metadata=metadata), 1_000_000))
    assert file.n_reads <= 2 * n_bytes


CRASHES = gzip.decompress(
    base64.b64decode(
        "H4sIAAbbDGsC/5WQvQrCMBCAL6GEjm3hSgMZOkio0BYr1snF3aH4BqEUdNDW1J83c/LhvCji4mK4P7675O7SrLcVehhg"
        "sEGOEAEweB8EjDDKiQYoUKjE/2S+UQzZDxqGZLhTxjigJ/MaEjG2u+5g0IEJT5iBmEsllQZFFTWIQBJEovGDkeiF9v/r"
        "KXNaBFwDoJE5rKZC6tcc7kWufXKQpYOxp0t3LtphKIy1/S29dnbc98d0vixnZSWVoit30ob+5gkmmS4zIAEAAA=="
    )
)
"""A table of one number whose footer has a wrong byte. pyarrow ends the process for it."""


def test_what_the_library_leaves_out_or_ends_the_process_for_is_an_error(tmp_path):
    """It reads none of a file with lists whose groups and pages have one record each."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [[1], []]}), path, row_group_size=1, data_page_size=1)
    with path.open("rb") as file, pytest.raises(PageHeaderError, match="^0 of the 2 records"):
        list(read_records(file, open_parquet(file), 1_000_000))
    with pytest.raises(LimitedProcessError, match="crashed"):
        open_parquet(io.BytesIO(CRASHES))
