"""A WIT shard as a file of lines: columns and `wit_records.py` agree on each line; no line is lost."""

import errno
import gzip
import re
import subprocess
import tempfile
import zlib
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.ingest import wit_records
from methods.ingest.wit import COLUMNS, MAX_LINE_BYTES, Rejection
from methods.ingest.wit_records import parse_records
from resources.corpus import staging, tsv
from resources.corpus.settings import CorpusError
from resources.corpus.staging import StagedShard
from resources.corpus.tsv import TsvShard
from resources.files import bounded
from tests.doubles.scripts import start

pytestmark = pytest.mark.slow

HEADER = "\t".join(COLUMNS).encode() + b"\n"
ADDRESSES = ("https://en.wikipedia.org/wiki/Owl", "https://upload.example.org/a/Owl.png")
TEXTS = ("Owl", "", "Owl > Food", "An owl", "English: An owl", "")
FACTS = ("image/png", "10", "20", "true", "false", "")
GOOD = ("en", *ADDRESSES, *TEXTS, *FACTS, "Owls fly.", "They eat.")
ROW = "\t".join(GOOD).encode() + b"\n"
RUBBISH = b"nothing\n"

Read = tuple[list[dict[str, object]], list[dict[str, object]]]
"""Rows, and rejections with line_number, reason, detail and excerpt; both by line."""


def file_of(folder: Path, content: bytes, name: str = "a.tsv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    return path


def staged_from(path: Path, name: str = "owls") -> StagedShard:
    return TsvShard(name, str(path), path.parent).stage(path.parent)


def rows_in(staged: StagedShard) -> list[dict[str, object]]:
    """What the warehouse would take in, by line."""
    rows = pa.ipc.open_stream(staged.rows.path).read_all().sort_by("line_number")
    return rows.select(["line_number", *COLUMNS]).to_pylist()


def staged_content(folder: Path, body: bytes, name: str = "a.tsv") -> Read:
    """What becomes of the lines after a header, as the shard's reader has it."""
    staged = staged_from(file_of(folder, HEADER + body, name), "a")
    rows = rows_in(staged)
    rejected = pq.read_table(staged.rejected.paths[0]).to_pylist()
    assert staged.n_rows == len(rows) and sum(staged.reasons.values()) == len(rejected)
    for rejection in rejected:
        assert (rejection.pop("wit_shard"), rejection.pop("kind")) == ("a", "row")
        rejection["line_number"] = int(rejection.pop("reference").removeprefix("line "))
    return rows, rejected


def ruled_content(body: bytes) -> Read:
    """What the rule makes of the same lines, cut here at each line feed."""
    *ended, last = body.split(b"\n")
    lines = [line + b"\n" for line in ended] + [last] * bool(last)
    items = list(parse_records(enumerate(lines, start=2)))
    rejected = [asdict(item) for item in items if isinstance(item, Rejection)]
    return [asdict(item) for item in items if not isinstance(item, Rejection)], rejected


def assert_alike(folder: Path, body: bytes) -> Read:
    """Both ways give the same; which rows and rejections those are."""
    rows, rejected = staged_content(folder, body)
    ruled_rows, ruled_rejections = ruled_content(body)
    assert rows == ruled_rows
    assert rejected == ruled_rejections
    return rows, rejected


# The two ways agree

ODD_TEXTS = [
    *['"', '""', '"x"', ' "x"', 'a"b', '"a', 'a"', '"""', '""""', "\t", "a\tb", '\t"', "\n"],
    *["a\nb", "a\r\nb", "\r", "\r\n", "x\r", "\r\r", "", " ", "  x ", "\v", "\f \t", "\x1c", "!\t"],
    *["\u00a0", "\u2003", "\u0085", "\u2028", "\ufeff", "\u200d", "\x00", "a\x00", "!", "#", " #"],
    *["e\u0301", "\u0301", '"\u0301"', '\u0301"', "\r\u0301", "\U0010ffff", "각", "İ", "ſ", "~"],
    "👩‍👩‍👧‍👦",
]
ODD_NUMBERS = [
    *["0", "7", "007", "+7", "-7", "-0", "1e3", "1.0", ".5", "1_000", "1 000", " 7", "7 ", "٣"],
    *["999999999", "1000000000", "4294967296", "0x10", "7\x00", "Infinity", "nan", '"7"', "0" * 9],
]
ODD_BOOLEANS = [
    *["TRUE", "True", "tRuE", "FALSE", "1", "0", "t", "yes", "true ", "falſe", "ﬀalse", "TRUE\x00"]
]
ODD_ADDRESSES = [
    *["HTTP://a.b/", "http://a", "https://a:80/x", "https://a:9999", "https://a:65535/", "http:a"],
    *["https://a:65536/", "https://a:99999/x", "https://a:/x", "http://a:00080/", "http://a:8０/"],
    *["http://user@a/", "http://a/é", "http://é.org/", "http://a/ b", "http://a?x", "http://a#x"],
    *["http://a/\u00a0", "http:///x", "http://", "ftp://a/", "//a/b", "https://-/x", "https://.."],
    *["https://[::1]/x", "https://[::1", "http://a]/x", "https://a/[x]", "http://a/\x7f"],
    *["http://℀/", "http://a/\x00", "http://a/x\r", 'http://a/"x', "http://a/x\ty"],
    *["http://a.b\\c/", "http://a/~!^"],
]
ODD = {
    **{name: ODD_ADDRESSES for name in ("page_url", "image_url")},
    **{name: ODD_NUMBERS for name in ("original_height", "original_width")},
    **{name: ODD_BOOLEANS for name in COLUMNS[12:15]},
}
ODD_OF = [ODD.get(name, []) + ODD_TEXTS for name in COLUMNS]
WAYS = {
    "bare": lambda text: text,
    "quoted": lambda text: '"' + text.replace('"', '""') + '"',
    "half quoted": lambda text: f'"{text}',
}
ENDS = [b"\n", b"\r\n", b"\r\r\n"]


def changed(place: int, field: str) -> bytes:
    return "\t".join([*GOOD[:place], field, *GOOD[place + 1 :]]).encode()


@pytest.mark.parametrize("way", WAYS)
def test_every_odd_text_in_every_column_is_read_as_the_rule_has_it(tmp_path, way):
    body = b"".join(
        changed(place, WAYS[way](text)) + end
        for end in ENDS
        for place in range(len(COLUMNS))
        for text in ODD_OF[place]
    )
    rows, rejected = assert_alike(tmp_path, body)
    assert len(rejected) > 100 and (len(rows) > 1000 or way == "half quoted")


TOKENS = [
    *[b'"', b'""', b"\t", b"\r", b"\n", b"\0", b" ", b"\xff", b"\xc2\xa0", b"\xed\xa0\x80", b'\t"']
]


@st.composite
def mutated_lines(draw: st.DrawFn) -> bytes:
    """A good line, some of its fields odd, then some bytes put in or taken away."""
    fields = list(GOOD)
    for place in draw(st.lists(st.integers(0, 16), max_size=3)):
        way = WAYS[draw(st.sampled_from(["bare", "quoted", "quoted"]))]
        fields[place] = way(draw(st.sampled_from(ODD_OF[place]) | st.text(max_size=4)))
    line = "\t".join(fields).encode("utf-8", "surrogatepass")
    for token in draw(st.lists(st.sampled_from(["cut", "take", *TOKENS]), max_size=2)):
        place = draw(st.integers(0, len(line)))
        if token == "take":
            line = line[:place] + line[place + 1 :]
        else:
            line = line[:place] + (b"" if token == "cut" else token + line[place:])
    return line + draw(st.sampled_from(ENDS))


ANY_LINE = mutated_lines() | st.binary(max_size=30).map(lambda raw: raw + b"\n")


@given(st.lists(ANY_LINE, max_size=20), st.integers(1, 700) | st.just(1 << 20), st.data())
def test_any_lines_are_read_as_the_rule_has_them_wherever_a_block_ends(
    tmp_path_factory, lines, block_bytes, data
):
    """The same rows with the same values, the same rejections with the same reasons. Lines of a
    thousand bytes are too long here, and the last line may lack its end."""
    for place in data.draw(st.lists(st.integers(0, len(lines)), max_size=2)):
        n_times = data.draw(st.integers(900, 1100))
        lines[place:place] = [
            data.draw(st.sampled_from([b"x", b'"', b"\r", "é".encode()])) * n_times
        ]
        lines[place] += b"\n"
    body = b"".join(lines)
    body = body[: data.draw(st.integers(0, len(body)) | st.just(len(body)))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tsv, "BLOCK_BYTES", block_bytes)
        for module in (tsv, wit_records):
            patch.setattr(module, "MAX_LINE_BYTES", 1000)
        assert_alike(tmp_path_factory.mktemp("blocks"), body)


# What is taken by the column


def test_plain_lines_are_not_judged_one_by_one(tmp_path, monkeypatch):
    judged = []
    monkeypatch.setattr(tsv, "parse_records", lambda lines: judged.extend(lines) or [])
    plain = [
        ROW,
        ROW.replace(b"\n", b"\r\n"),
        changed(15, '"They ""fly""."') + b"\n",
        changed(16, '"last"') + b"\r\n",
        changed(8, 'A 5" owl, "barn owl"') + b"\n",
        changed(3, " Barn owl\0") + b"\n",
        changed(12, "TRUE") + b"\n",
        changed(2, "http://upload.example.org:8080/%C3%A9[1].png") + b"\n",
    ]
    rows, _ = staged_content(tmp_path, b"".join(plain) + RUBBISH)
    assert [row["line_number"] for row in rows] == list(range(2, 10))
    assert rows[2]["context_page_description"] == 'They "fly".'
    assert rows[3]["context_section_description"] == "last"
    assert rows[4]["caption_alt_text_description"] == 'A 5" owl, "barn owl"'
    assert rows[5]["page_title"] == "Barn owl"
    assert judged == [(10, RUBBISH)]


def test_records_over_several_lines_are_put_together_across_blocks(tmp_path, monkeypatch):
    """Several blocks are read at a time; the lines come to be judged in the file's order."""
    monkeypatch.setattr(tsv, "BLOCK_BYTES", 1 << 14)
    n_records = 1500
    rows, rejected = staged_content(tmp_path, (changed(4, '"a\nb"') + b"\n") * n_records)
    assert rejected == []
    assert [row["line_number"] for row in rows] == [2 + 2 * n for n in range(n_records)]
    assert {row["section_title"] for row in rows} == {"a\nb"}


# Whole files


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_file_is_read_packed_or_plain_with_either_line_end(tmp_path, name, end, mark):
    content = mark + (HEADER + ROW + RUBBISH + ROW).replace(b"\n", end)
    shard = TsvShard("a", str(file_of(tmp_path, content, name)), tmp_path)
    staged = shard.stage(tmp_path)
    assert staged.n_rows == 2 and staged.reasons == {"wrong_column_count": 1}
    for row, number in zip(rows_in(staged), [2, 4], strict=True):
        filled = {key: str(value).lower() for key, value in row.items() if value is not None}
        assert filled.pop("line_number") == str(number)
        expected = dict(zip(COLUMNS, GOOD, strict=True))
        assert filled == {key: text.lower() for key, text in expected.items() if text}
    assert shard.carries_images is False and list(shard.images()) == []


def test_an_endless_line_costs_one_rejection_and_the_next_row_is_read(tmp_path):
    endless = b"x" * (3 * MAX_LINE_BYTES)
    rows, rejected = staged_content(tmp_path, ROW + endless + b"\n" + ROW + endless, "a.tsv.gz")
    assert [row["line_number"] for row in rows] == [2, 4]
    assert [(each["line_number"], each["reason"]) for each in rejected] == [
        (3, "too_long"),
        (5, "too_long"),
    ]


@pytest.mark.parametrize("n_beyond", [-1, 0, 1])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_about_the_limit_stay_one_line(tmp_path, n_beyond, end):
    n_bytes = MAX_LINE_BYTES + n_beyond
    text = "x" * (n_bytes - len(changed(15, "")))
    rows, rejected = assert_alike(tmp_path, changed(15, text) + end + ROW)
    assert [row["line_number"] for row in rows] == ([3] if n_beyond > 0 else [2, 3])
    assert [each["reason"] for each in rejected] == ["too_long"] * (n_beyond > 0)


MEASURED = """
import resource, sys
from pathlib import Path
from resources.corpus import tsv

folder = Path(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
staged = tsv.TsvShard("a", str(folder / "a.tsv"), folder).stage(folder)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(staged.n_rows, staged.reasons, (after - before) // 1024)
"""


def test_a_file_larger_than_the_memory_is_read_line_by_line(tmp_path):
    """A quarter of a gigabyte, by a fresh process, which says by how many MiB it grew."""
    rubbish, row = b"g" * 5000 + b"\n", changed(15, "g" * 5000) + b"\n"
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        with (Path(folder) / "a.tsv").open("wb") as file:
            file.write(HEADER)
            for line in (rubbish, row):
                for _ in range(25):
                    file.write(line * 1000)
        with start(MEASURED, folder, stdout=subprocess.PIPE) as child:
            said, _, grown = child.stdout.read().strip().rpartition(" ")
    assert said == "25000 {'wrong_column_count': 25000}" and int(grown) < 240


# Files that are no shards


@pytest.mark.parametrize("damage", [b"", b"\xff" * 50])
def test_a_packed_file_that_breaks_is_read_up_to_there_and_says_what_to_do(tmp_path, damage):
    numbered = b"".join(b"%d\n" % n for n in range(40_000))
    packed = gzip.compress(HEADER + ROW * 10 + numbered)
    half = packed[: len(packed) // 2]
    path = tmp_path / "bad.tsv.gz"
    path.write_bytes(half + damage + packed[len(half) + 50 :] if damage else half)

    staged = staged_from(path, "bad")

    assert re.fullmatch(
        r"Shard 'bad' cannot be read to its end \(.+\): replace .*bad.tsv.gz with an intact copy.",
        staged.broken,
    )
    # Every whole line that anybody could unpack; what follows damage may be rubbish.
    n_lines = zlib.decompressobj(wbits=31).decompress(half).count(b"\n")
    assert staged.n_rows == 10
    assert sum(staged.reasons.values()) == pytest.approx(n_lines - 11, abs=5_000 if damage else 0)


@pytest.mark.parametrize("name", ["bad.tsv", "bad.tsv.gz"])
@pytest.mark.parametrize("content", [b"", b"\n", ROW, b"no\theader\n", b"\xff\xfe" + HEADER])
def test_a_file_without_the_header_is_refused_and_says_what_is_needed(tmp_path, name, content):
    path = file_of(tmp_path, content, name)
    with pytest.raises(CorpusError, match=r"'bad' is not in WIT's form: .*17 columns"):
        staged_from(path, "bad")


@pytest.mark.parametrize("content", [b"not gzip at all", HEADER + ROW, b"\x1f\x8b"])
def test_what_is_not_packed_as_its_name_says_is_refused(tmp_path, content):
    (tmp_path / "bad.tsv.gz").write_bytes(content)
    with pytest.raises(CorpusError, match="'bad' cannot be read to its end .*intact copy"):
        staged_from(tmp_path / "bad.tsv.gz", "bad")


@pytest.mark.parametrize(
    ("place", "name", "error"),
    [(tsv, "plain_rows", pa.ArrowMemoryError), (staging.StagedWriter, "write_plain", OSError)],
)
def test_a_full_memory_or_disk_is_not_blamed_on_the_file(tmp_path, monkeypatch, place, name, error):
    def fail(*_):
        raise error(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(place, name, fail)
    with pytest.raises(error, match="No space left"):
        staged_from(file_of(tmp_path, HEADER + ROW))


def test_a_packed_file_of_empty_lines_is_given_up_after_few_of_them(tmp_path, monkeypatch):
    """12 kB of gzip cost two minutes and a gigabyte of memory and of disk."""
    monkeypatch.setattr(staging, "MOST_STORED", 1_000)
    path = file_of(tmp_path, HEADER + b"\n" * 100_000, "owls.tsv.gz")
    staged = staged_from(path)
    assert staged.broken and "is not read further: 1,001 of its first 1,001" in staged.broken
    # One with enough rows is read to its end; rejections beyond the limit are counted, not stored.
    monkeypatch.setattr(staging, "MOST_STORED", 10)
    staged = staged_from(file_of(tmp_path, HEADER + (ROW + b"\n") * 40))
    assert (staged.n_rows, staged.reasons, staged.broken) == (40, {"wrong_column_count": 40}, None)
    assert sum(pq.read_table(each).num_rows for each in staged.rejected.paths) == 10


def test_a_file_that_unpacks_to_far_more_than_its_size_is_not_read_to_its_end(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(bounded, "SMALL_UNPACKED", 3_000_000)
    staged = staged_from(file_of(tmp_path, HEADER + ROW * 200_000, "a.tsv.gz"))
    said = r"unpacks to over \d\d,\d{3},\d{3} bytes, far more than a text"
    assert re.search(said, staged.broken or "")
    assert 0 < staged.n_rows < 200_000
