"""Headers of Parquet pages, against what pyarrow wrote and what it says in the footer."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resources.files.parquet_pages import Page, PageHeaderError, pages_of

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


def chunk_of(data: bytes) -> tuple[io.BytesIO, pq.ColumnChunkMetaData]:
    file = io.BytesIO(data)
    return file, pq.read_metadata(file).row_group(0).column(0)


def one_page() -> tuple[bytes, int]:
    """A file of one page, and where the page's header starts."""
    data = io.BytesIO()
    pq.write_table(pa.table({"n": [1, 2, 3]}), data, use_dictionary=False, compression="none")
    return data.getvalue(), pq.read_metadata(data).row_group(0).column(0).data_page_offset


def test_a_header_by_hand():
    data, start = one_page()
    # Type 0; 5 bytes, 3 of them packed; a data page of 7 values.
    header = bytes([0x15, 0, 0x15, 10, 0x15, 6, 0x2C, 0x15, 14, 0, 0])
    file, chunk = chunk_of(data[:start] + header + data[start + len(header) :])
    assert next(pages_of(file, chunk)) == Page(n_bytes=5, n_values=7)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"\x00", "has no sizes"),
        (b"\x15\x00\x15\x01\x15\x06\x00", "has no sizes"),
        (b"\x1c" * 30, "nested too deep"),
        (b"\x19\x00", "a field of type 9"),
        (b"\x15" + b"\xff" * 12, "too many digits"),
    ],
)
def test_what_is_no_header_is_refused(header, message):
    data, start = one_page()
    file, chunk = chunk_of(data[:start] + header + data[start + len(header) :])
    with pytest.raises(PageHeaderError, match=message):
        list(pages_of(file, chunk))
