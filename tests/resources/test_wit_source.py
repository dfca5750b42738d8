"""A folder of WIT shards: what is found, how it is streamed, and what is said when it is broken."""

import gzip
from pathlib import Path

import pytest

from methods.image_check import check
from methods.wit import COLUMNS, MAX_LINE_BYTES, Rejection, WitRow, caption
from resources.wit_source import WitFolder, WitSourceError

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT.parent / "shared/data/wit_sample"

HEADER = "\t".join(COLUMNS) + "\n"
ROW = (
    "en\thttps://en.wikipedia.org/wiki/Owl\thttps://upload.example.org/{0}.png\tOwl\t\t\t"
    "An owl\t\t\timage/png\t10\t20\ttrue\ttrue\tfalse\tOwls fly.\t\n"
)


def shard_text(n_rows: int) -> bytes:
    return (HEADER + "".join(ROW.format(number) for number in range(n_rows))).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shards").mkdir()
    (tmp_path / "b.tsv").write_bytes(shard_text(2))
    (tmp_path / "shards" / "a.tsv.gz").write_bytes(gzip.compress(shard_text(3)))
    (tmp_path / "notes.txt").write_text("no shard")
    (tmp_path / ".hidden.tsv").write_text("no shard either")
    return tmp_path


def test_shards_are_found_in_both_places_and_sorted(folder):
    assert WitFolder(folder).shards() == ["a", "b"]


@pytest.mark.parametrize(("shard", "n_rows"), [("a", 3), ("b", 2)])
def test_a_shard_is_read_packed_or_plain(folder, shard, n_rows):
    rows = list(WitFolder(str(folder)).read(shard))
    assert [row.line_number for row in rows] == list(range(2, 2 + n_rows))
    assert all(isinstance(row, WitRow) for row in rows)


def test_a_shard_is_streamed_not_loaded(folder):
    """The first row comes before the damage behind it is met."""
    whole = gzip.compress(shard_text(50_000))
    (folder / "cut.tsv.gz").write_bytes(whole[: len(whole) // 2])
    rows = WitFolder(folder).read("cut")
    assert next(rows).line_number == 2
    with pytest.raises(WitSourceError, match=r"beyond line \d+ .*intact copy"):
        list(rows)


def test_an_endless_line_costs_one_rejection_and_the_next_row_is_read(folder):
    row = ROW.format(1).encode()
    endless = b"x" * (3 * MAX_LINE_BYTES)
    (folder / "long.tsv").write_bytes(HEADER.encode() + row + endless + b"\n" + row + endless)
    first, long, second, last = WitFolder(folder).read("long")
    assert isinstance(first, WitRow) and isinstance(second, WitRow)
    assert isinstance(long, Rejection) and long.reason == "too_long" and long.line_number == 3
    assert isinstance(last, Rejection) and last.line_number == 5


@pytest.mark.parametrize("n_bytes", [MAX_LINE_BYTES - 1, MAX_LINE_BYTES, MAX_LINE_BYTES + 1])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_about_the_limit_stay_one_line(folder, n_bytes, end):
    row = ROW.format(1).encode()
    (folder / "edge.tsv").write_bytes(HEADER.encode() + b"x" * n_bytes + end + row)
    edge, after = WitFolder(folder).read("edge")
    assert edge.reason == ("too_long" if n_bytes > MAX_LINE_BYTES else "wrong_column_count")
    assert isinstance(after, WitRow) and after.line_number == 3


def test_a_missing_folder_is_named_and_so_is_the_way_out(tmp_path):
    absent = WitFolder(tmp_path / "absent")
    for use in (absent.shards, lambda: absent.read("a")):
        with pytest.raises(WitSourceError, match="no folder .*absent: make it"):
            use()
    assert absent.categories() == {} and absent.images_folder is None


@pytest.mark.parametrize("name", ["c", "../b", "", "notes.txt"])
def test_an_unknown_shard_is_refused_at_once_with_those_there_are(folder, name):
    with pytest.raises(WitSourceError, match=r"no shard .*\(a, b\)"):
        WitFolder(folder).read(name)


def test_two_files_of_one_name_are_refused(folder):
    (folder / "a.tsv").write_bytes(shard_text(1))
    with pytest.raises(WitSourceError, match="remove one"):
        WitFolder(folder).shards()


@pytest.mark.parametrize("content", [b"not gzip at all", b"", gzip.compress(b"no\theader\n")])
def test_a_file_that_is_no_shard_says_so_when_read(folder, content):
    (folder / "bad.tsv.gz").write_bytes(content)
    with pytest.raises(WitSourceError, match=r"'bad'.*(intact copy|header)"):
        list(WitFolder(folder).read("bad"))


def test_categories_by_title(folder):
    assert WitFolder(folder).categories() == {}
    (folder / "categories.jsonl").write_text(
        '{"page_title": "Owl", "categories": ["Birds", "Night"]}\n\n'
        '{"page_title": "Owl", "categories": ["Night", "Hunters"]}\n'
        '{"page_title": "Stone", "categories": []}\n'
    )
    expected = {"Owl": ["Birds", "Night", "Hunters"], "Stone": []}
    assert WitFolder(folder).categories() == expected


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"page_title": "Owl"}', '{"page_title": 1, "categories": [2]}', b"\xff"]
)
def test_a_broken_category_line_is_named(folder, line):
    content = line if isinstance(line, bytes) else line.encode()
    (folder / "categories.jsonl").write_bytes(
        b'{"page_title": "Owl", "categories": []}\n' + content
    )
    with pytest.raises(WitSourceError, match="Line 2 of .*categories.jsonl"):
        WitFolder(folder).categories()


def test_the_categories_of_a_page_are_a_list_not_a_word(folder):
    (folder / "categories.jsonl").write_text('{"page_title": "Owl", "categories": "Birds"}\n')
    with pytest.raises(WitSourceError, match="Line 1"):
        WitFolder(folder).categories()


def test_the_images_folder_is_given_where_there_is_one(folder):
    assert WitFolder(folder).images_folder is None
    (folder / "images").mkdir()
    assert WitFolder(folder).images_folder == folder / "images"


def test_the_real_sample_is_read_whole():
    """178 rows, every one with a caption, categories and an image that is what the row says."""
    if not SAMPLE.is_dir():
        pytest.skip(f"the WIT sample is not at {SAMPLE}: only the embedded corpus can be tested")
    source = WitFolder(SAMPLE)
    rows = [item for shard in source.shards() for item in source.read(shard)]
    assert [item for item in rows if isinstance(item, Rejection)] == []
    assert len(rows) == 178 and len({row.row_id for row in rows}) == 178
    assert all(caption(row) for row in rows)
    assert {row.page_title for row in rows} == set(source.categories())
    assert source.images_folder is not None
    images = {row.image_url: row for row in rows}
    assert len(images) == 148
    for url, row in images.items():
        data = (source.images_folder / url.rpartition("/")[2]).read_bytes()
        checked = check(data, row.mime_type)
        assert (checked.height, checked.width) == (row.original_height, row.original_width)
