"""A corpus: what is found in a folder, what `corpus.yaml` adds, what is said when either is wrong."""

import gzip
import hashlib
import logging
import os
import re
from pathlib import Path

import pytest

from methods.ingest.topics import Topic
from methods.ingest.wit import COLUMNS
from resources.corpus import corpus as corpus_module
from resources.corpus import shard as fetching
from resources.corpus.corpus import Corpus
from resources.corpus.settings import CorpusError, load_settings
from resources.corpus.shard import READER
from resources.corpus.tsv import TsvShard
from resources.corpus.wikipedia_shard import WikipediaShard
from resources.corpus.wit_base import WitBaseShard
from tests.doubles.serving import serving
from tests.resources.corpus.storage_double import StorageDouble

HEADER = "\t".join(COLUMNS) + "\n"
ROW = (
    "en\thttps://en.wikipedia.org/wiki/Owl\thttps://upload.example.org/{0}.png\tOwl\t\t\t"
    "An owl\t\t\timage/png\t10\t20\ttrue\ttrue\tfalse\tOwls fly.\t\n"
)


def shard_text(n_rows: int) -> bytes:
    return (HEADER + "".join(ROW.format(number) for number in range(n_rows))).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "shards").mkdir(parents=True)
    (folder / "b.tsv").write_bytes(shard_text(2))
    (folder / "shards" / "a.tsv.gz").write_bytes(gzip.compress(shard_text(3)))
    (folder / "shards" / "train-0 of 1.parquet").write_bytes(b"not looked at yet")
    for name in ("notes.txt", ".hidden.tsv", ".tsv", "shards/.parquet", "b.tsv.part", "c.csv"):
        (folder / name).write_text("no shard")
    (folder / "folder.tsv").mkdir()
    return folder


@pytest.fixture
def corpus(folder, tmp_path) -> Corpus:
    return Corpus(str(folder), tmp_path / "home")


def configured(folder: Path, text: str) -> Corpus:
    (folder / "corpus.yaml").write_text(text)
    return Corpus(folder, folder.parent / "home")


# Shards


def test_shards_are_found_in_both_places_and_sorted(corpus, folder, tmp_path):
    assert corpus.shards() == ["a", "b", "train-0 of 1"]
    shards = [corpus.shard(name) for name in corpus.shards()]
    assert [type(shard) for shard in shards] == [TsvShard, TsvShard, WitBaseShard]
    assert [Path(shard.address).parent for shard in shards[:2]] == [folder / "shards", folder]
    assert [shard.stage(tmp_path).n_rows for shard in shards[:2]] == [3, 2]


def test_files_that_are_named_like_shards_and_are_none_are_said(corpus, folder):
    (folder / "endless.tsv").symlink_to("/dev/zero")
    (folder / "gone.tsv").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "shards" / "pipe.tsv")
    (folder / "red\x1b[31m\nSTAGE ok.tsv").write_bytes(shard_text(1))

    assert corpus.shards() == ["a", "b", "train-0 of 1"]
    said = corpus.left_out()
    for part in (
        f"Files in {folder} that are not read",
        "'endless.tsv' is a pipe or a device",
        "'folder.tsv' is a folder",
        "'gone.tsv' is a link that leads nowhere",
        "'shards/pipe.tsv' is a pipe",
        r"'red\x1b[31m\nSTAGE ok.tsv' has control characters in its name",
    ):
        assert part in said
    hidden = 'wikipedia: {contact: a@b.org, shards: {"x\\e[31m": {pages: [Owl]}}}'
    with pytest.raises(CorpusError, match=r"'x\\x1b\[31m' in corpus.yaml has control characters"):
        configured(folder, hidden).shards()


def test_shards_from_addresses_and_of_wikipedia_stand_among_the_others(folder):
    corpus = configured(
        folder,
        """
        shards:
          - https://example.org/wit/far.tsv.gz
          - http://example.org/near.parquet
          - hf://datasets/wikimedia/wit_base/data/train-00000-of-00330.parquet
        languages: [en, de]
        wikipedia:
          contact: me@example.org
          shards:
            birds: {pages: [Owl], categories: ["Category:Owls"], limit: 9}
            vögel: {language: de, pages: [Eulen]}
        """,
    )
    added = ["birds", "far", "near", "train-00000-of-00330", "vögel"]
    assert corpus.shards() == sorted([*added, "a", "b", "train-0 of 1"])
    assert corpus.changing() == added
    kinds = [WikipediaShard, TsvShard, WitBaseShard, WitBaseShard, WikipediaShard]
    assert [type(corpus.shard(name)) for name in added] == kinds
    assert corpus.shard("far").address == "https://example.org/wit/far.tsv.gz"
    assert corpus.shard("vögel").address == "de.wikipedia.org"


@pytest.mark.parametrize("name", ["c", "../b", "", "notes.txt", "b.tsv", "folder"])
def test_an_unknown_shard_is_refused_with_those_there_are(corpus, name):
    with pytest.raises(
        CorpusError, match=r"no shard .*; (the nearest is b|there are a, b, train-0 of 1): "
    ):
        corpus.shard(name)


@pytest.mark.parametrize(
    ("added", "settings"),
    [
        ("a.tsv", ""),
        ("shards/b.parquet", ""),
        (None, "shards: [https://example.org/a.tsv]"),
        (None, "shards: [https://example.org/c.tsv, http://example.com/c.tsv.gz]"),
        (None, "wikipedia: {shards: {b: {pages: [Owl]}}}"),
    ],
)
def test_two_shards_of_one_name_are_refused(folder, added, settings):
    if added:
        (folder / added).write_bytes(shard_text(1))
    corpus = configured(folder, settings)
    for use in (corpus.shards, lambda: corpus.shard("a"), corpus.changing):
        with pytest.raises(CorpusError, match=r".+ and .+ are both shard '[abc]': rename one"):
            use()


def test_a_missing_folder_is_named_and_so_is_the_way_out(tmp_path):
    absent = Corpus(tmp_path / "absent", tmp_path)
    for use in (absent.shards, lambda: absent.shard("a"), absent.changing):
        with pytest.raises(CorpusError, match="no folder .*absent: make it"):
            use()
    assert absent.categories() == {} and absent.images_folder is None and absent.excluded() == {}


@pytest.mark.parametrize(
    "address",
    [
        *["ftp://example.org/c.tsv", "httpx2://example.org/c.tsv", "/other/c.tsv", "c.tsv"],
        *["https://example.org/c.csv", "https://example.org/.tsv", "https://example.org/"],
        *["https://example.org/c.tsv/raw", "hf://datasets/a/b/c.tsv"],
    ],
)
def test_an_address_that_cannot_be_read_is_refused_by_name(folder, address):
    said = f"^The shard {re.escape(address)} in corpus.yaml cannot be read: give an http or https"
    with pytest.raises(CorpusError, match=said):
        configured(folder, f"shards: ['{address}']").shards()


# Settings


def test_settings_are_read(folder):
    settings = configured(
        folder,
        """
        languages: [en, "no"]
        topics: {night: {keywords: [owl, bat], categories: [Nocturnal animals]}}
        images:
          licence: {name: CC BY-SA 4.0, url: "https://creativecommons.org/licenses/by-sa/4.0/"}
        """,
    ).settings
    assert settings.languages == ["en", "no"]
    assert settings.topics == {"night": Topic(("owl", "bat"), ("Nocturnal animals",))}
    assert settings.images.licence.name == "CC BY-SA 4.0" and settings.images.licence.artist is None


OTHER_LANGUAGE = "{languages: [en], wikipedia: {shards: {a: {language: de}}}}"


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        ("colour: red", "colour", "there is no such key; there are "),
        ("languages: [en, no]", "languages", "write 'no' in quotes"),
        ("languages: [en, ' ']", "languages", "a language is empty"),
        (OTHER_LANGUAGE, "the keys", "the shard a is in de, which is not among languages"),
        ("topics: {a: {keyword: [owl]}}", "topics.a.keyword", "the nearest is keywords"),
        ("topics: {a: {keywords: ['']}}", "topics.a", "every page"),
        ("wikipedia: {shards: {a: {pages: [1984]}}}", "wikipedia.shards.a.pages.0", "string"),
        ("images: {width: 100}", "images.width", r"\[20, 40, 60, .*\] pixels only"),
        ("images: {licence: {name: free}}", "images.licence.name", "such as CC-BY-SA-4.0"),
        ("[shards]", "the keys", "dictionary"),
    ],
)
def test_a_wrong_setting_is_one_sentence_with_its_key(folder, text, key, says):
    corpus = configured(folder, text)
    for use in (corpus.shards, corpus.excluded):
        with pytest.raises(CorpusError, match=rf"^Correct {key} in .*corpus\.yaml: .*{says}.*\.$"):
            use()


@pytest.mark.parametrize("content", [b"a: b: c", b"images:\n\t- x", b"[", b"\xff\xfe\x00"])
def test_settings_that_are_no_yaml_are_refused_by_the_name_of_the_file(folder, content):
    (folder / "corpus.yaml").write_bytes(content)
    with pytest.raises(CorpusError, match=r"corpus\.yaml cannot be read as YAML: "):
        load_settings(folder)


@pytest.mark.parametrize(
    "text",
    [
        "shards: [https://h.example/x.tsv.gz?X-Amz-Signature=s3cret]",
        "shards: https://me:s3cret@h.example/x.tsv.gz: x",
        "shards: ['h.example/x.tsv.gz?sig=s3cret']",
        "shards: ['https:/me:s3cret@h.example/x.tsv.gz']",
        "shards: ['s3cret@h.example/x.tsv.gz']",
        "shards: ['https://h.example/x.tsv.gz;sig=s3cret']",
        "shards: ['https://h.example/x.tsv.gz%3Fsig=s3cret']",
        "https://h.example/x.tsv.gz?sig=s3cret: 1",
    ],
)
def test_a_mistake_in_an_address_shows_no_secret_of_it(folder, text):
    with pytest.raises(CorpusError) as refused:
        configured(folder, text).shards()
    assert "corpus.yaml" in str(refused.value) and "s3cret" not in str(refused.value)


# What stands beside the shards


def test_categories_by_title(corpus, folder, monkeypatch):
    assert corpus.categories() == {}
    (folder / "categories.jsonl").write_text(
        '{"page_title": "Owl", "categories": ["Birds", "Night", "Birds"]}\n\n'
        '{"page_title": "Owl", "categories": ["Night", "Hunters"]}\n'
        '{"page_title": "Stone", "categories": []}\n'
    )
    assert corpus.categories() == {"Owl": ["Birds", "Night", "Hunters"], "Stone": []}
    with monkeypatch.context() as patch:
        patch.setattr(corpus_module, "MOST_CHARACTERS", 12)
        with pytest.raises(CorpusError, match="Line 3 .* more than 12 characters; remove"):
            corpus.categories()


@pytest.mark.parametrize(
    "line",
    [
        *[b"{", b"[]", b"\xff", b'{"page_title": "Owl"}', b'{"categories": []}'],
        *[b'{"page_title": 1, "categories": []}', b'{"page_title": "Owl", "categories": "Birds"}'],
        b'{"page_title": "Owl", "categories": ["Birds", 2]}',
        b'{"page_title": "Owl", "categories": ["half of a \\ud800"]}',
    ],
)
def test_a_broken_line_of_categories_is_named(corpus, folder, line):
    good = b'{"page_title": "Owl", "categories": ["Birds"]}\n'
    (folder / "categories.jsonl").write_bytes(good + line)
    with pytest.raises(CorpusError, match=r"^Line 2 of .*categories\.jsonl cannot be used"):
        corpus.categories()


def test_images_of_other_lists_are_known_by_digest_and_list(folder):
    md5, sha256 = hashlib.md5(b"owl").hexdigest(), hashlib.sha256(b"elm").hexdigest()
    (folder / "mmdu.md5").write_text(f"# MMDU\n\n{md5.upper()}  owl.jpg\n")
    (folder / "lists").mkdir()
    (folder / "lists" / "mmbench.txt").write_text(f"{sha256}\n")
    corpus = configured(folder, "images: {exclude: [mmdu.md5, lists/mmbench.txt]}")
    assert corpus.excluded() == {md5: "mmdu.md5", sha256: "lists/mmbench.txt"}


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "No such file"), (b"owl.jpg\n", "Line 1 of the list 'seen.md5'"), (b"\xff", "utf-8")],
)
def test_a_list_that_cannot_be_used_is_named(folder, content, says):
    if content is not None:
        (folder / "seen.md5").write_bytes(content)
    corpus = configured(folder, "images: {exclude: [seen.md5]}")
    said = rf"^The exclusion list .*seen\.md5 cannot be used \(.*{says}.*: put "
    with pytest.raises(CorpusError, match=said):
        corpus.excluded()


# Fingerprints


def test_a_fingerprint_changes_with_the_content_and_the_way_of_reading(corpus, folder, monkeypatch):
    first = corpus.shard("b").fetch(print)
    digest = hashlib.sha256(shard_text(2)).hexdigest()
    assert first == f"{READER}-{digest}"

    (folder / "b.tsv").touch()
    (folder / "copy.tsv").write_bytes(shard_text(2))
    assert corpus.shard("b").fetch(print) == corpus.shard("copy").fetch(print) == first

    (folder / "b.tsv").write_bytes(shard_text(2).replace(b"Owls fly", b"Owls fl1"))
    assert corpus.shard("b").fetch(print) != first

    monkeypatch.setattr(fetching, "READER", READER + 1)
    assert corpus.shard("copy").fetch(print) == f"{READER + 1}-{digest}"

    shard = corpus.shard("b")
    (folder / "b.tsv").unlink()
    with pytest.raises(CorpusError, match=r"'b' cannot be read \(No such file.*intact copy"):
        shard.fetch(print)


def test_a_shard_behind_an_address_is_downloaded_under_the_home(folder, tmp_path, monkeypatch):
    downloaded = []

    def download(url: str, target: Path, *, on_progress, warn) -> Path:
        downloaded.append((url, target))
        for n_bytes in (1, 99_999_999, 100_000_000, 100_000_001, 250_000_000):
            on_progress(n_bytes, 1_250_000_000 if n_bytes > 1 else None)
        target.write_bytes(gzip.compress(shard_text(4), mtime=0))
        return target

    monkeypatch.setattr(fetching, "download", download)
    shard = configured(folder, "shards: [https://example.org/wit/far.tsv.gz]").shard("far")
    told = []

    fingerprint = shard.fetch(told.append)

    target = tmp_path / "home" / "downloads" / "far.tsv.gz"
    assert downloaded == [("https://example.org/wit/far.tsv.gz", target)]
    assert fingerprint == f"{READER}-{hashlib.sha256(target.read_bytes()).hexdigest()}"
    assert shard.stage(tmp_path).n_rows == 4
    # Once for the first bytes, then for every hundred megabytes.
    assert told == [f"shard far: {done} MB" for done in ("0", "100 of 1,250", "250 of 1,250")]
    # A slow one is logged by time.
    monkeypatch.setattr(fetching, "SECONDS_BETWEEN_MESSAGES", 0.0)
    shard.fetch(told.append)
    assert len(told) == 3 + 5


def test_secrets_in_an_address_are_sent_and_shown_nowhere(folder, tmp_path, caplog):
    caplog.set_level("INFO")
    with serving(StorageDouble()) as storage:
        stored = storage.put("wit/far.tsv?se=2030&name=a/s3cret", shard_text(2))
        address = stored.url.replace("//", "//me:s3cret@")
        corpus = configured(folder, f"shards: ['{address}']")
        shard = corpus.shard("far")
        shard.fetch(logging.info)
        assert shard.stage(tmp_path).n_rows == 2
        assert shard.address == stored.url.partition("?")[0]
        stored.statuses = [403]
        with pytest.raises(CorpusError, match="a copy of the file") as refused:
            shard.fetch(logging.info)
    assert storage.log[0].authorization
    (folder / "far.tsv").touch()
    with pytest.raises(CorpusError) as equal:
        corpus.shards()
    with pytest.raises(CorpusError) as wrong:
        configured(folder, f"shards: ['{address.replace('.tsv', '.csv')}']").shards()
    kept = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert {path.name for path in kept} >= {"far.tsv", "far.tsv.json"} and storage.log
    texts = [caplog.text, *map(Path.read_text, kept)]
    texts += [str(each.value) for each in (refused, equal, wrong)]
    assert "s3cret" not in "".join([*texts, *map(str, kept)])
    assert "far.tsv" in caplog.text
