"""Observation of the corpus: local shards by content, read only when their files were touched."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from resources.corpus.corpus import Corpus
from resources.corpus.observation import ShardState, observe, observe_files
from resources.corpus.settings import CorpusError
from resources.corpus.shard import READER, FileShard


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.tsv").write_text("one")
    (folder / "b.tsv").write_text("two")
    return folder


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the shards that were read, in that order; the list may be cleared."""
    names: list[str] = []
    fetch = FileShard.fetch

    def watched(self: FileShard, log) -> str:
        names.append(self.name)
        return fetch(self, log)

    monkeypatch.setattr(FileShard, "fetch", watched)
    return names


def seen(
    folder: Path, before: Mapping[str, Sequence[str]] | None = None, seconds: float = 60
) -> dict[str, ShardState]:
    return observe(Corpus(folder, folder.parent / "home"), before or {}, seconds)


def touch(path: Path) -> None:
    """Another time, and nothing else."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))


@pytest.mark.parametrize("content", ["two", "owt"])
def test_a_file_is_read_once_and_again_when_touched_and_has_the_fingerprint_of_its_content(
    folder, read, content
):
    before = seen(folder)
    assert list(before) == ["a", "b"]
    assert before["a"].fingerprint == f"{READER}-{hashlib.sha256(b'one').hexdigest()}"
    read.clear()
    assert seen(folder, json.loads(json.dumps(before))) == before
    assert read == []
    # As long as before.
    (folder / "b.tsv").write_text(content)
    touch(folder / "b.tsv")

    found = seen(folder, before)

    assert found["a"] == before["a"]
    assert (found["b"].fingerprint == before["b"].fingerprint) == (content == "two")
    assert found["b"].stamp != before["b"].stamp
    assert seen(folder, found) == found
    assert read == ["b"]


def test_a_file_that_cannot_be_read_for_now_is_as_it_was_seen_before(folder, monkeypatch):
    before = seen(folder)
    (folder / "a.tsv").write_text("another one")
    (folder / "c.tsv").write_text("three")
    fetch = FileShard.fetch

    def refused(self: FileShard, log) -> str:
        if self.name in "ac":
            raise CorpusError(f"Shard {self.name!r} cannot be read.")
        return fetch(self, log)

    with monkeypatch.context() as patch:
        patch.setattr(FileShard, "fetch", refused)
        assert seen(folder, before) == before, "and a new one waits until it can be read"
    assert seen(folder, before)["a"].fingerprint != before["a"].fingerprint


def test_shards_elsewhere_are_not_looked_at(folder, read):
    (folder / "corpus.yaml").write_text(
        "shards: ['https://storage.example.org/far.tsv.gz', 'hf://datasets/x/y/z.parquet']\n"
        "wikipedia: {contact: a@example.org, shards: {owls: {pages: [Owl]}}}\n"
    )

    assert list(seen(folder)) == ["a", "b"]
    assert read == ["a", "b"]


def test_when_the_time_is_over_the_next_call_goes_on(folder, read):
    (folder / "c.tsv").write_text("three")

    first = seen(folder, seconds=0)
    second = seen(folder, first, seconds=0)
    third = seen(folder, second, seconds=0)

    assert [list(each) for each in (first, second, third)] == [["a"], ["a", "b"], ["a", "b", "c"]]
    assert read == ["a", "b", "c"]
    # What was seen before stays as it was until its turn comes.
    for name in "abc":
        touch(folder / f"{name}.tsv")
    fourth = seen(folder, third, seconds=0)
    assert fourth["a"].stamp != third["a"].stamp
    assert {name: fourth[name] for name in "bc"} == {name: third[name] for name in "bc"}


def test_the_files_about_shards_have_another_fingerprint_when_ingestion_would_read_another_thing(
    folder,
):
    (folder / "corpus.yaml").write_text("images: {exclude: [seen.md5]}")

    def fingerprint() -> str:
        return observe_files(Corpus(folder, folder.parent / "home")).fingerprint

    found = [fingerprint()]
    for name, text in (
        ("categories.jsonl", '{"page_title": "Owl", "categories": ["Birds"]}'),
        ("seen.md5", "0" * 32),
        ("corpus.yaml", "languages: [en]\nimages: {exclude: [seen.md5]}"),
    ):
        (folder / name).write_text(text)
        found.append(fingerprint())
    assert len(set(found)) == len(found)

    (folder / "corpus.yaml").write_text("# By week.\nweekly_shards: 2\n" + text)
    assert fingerprint() == found[-1], "when shards are ingested is not how"
    (folder / "a.tsv").write_text("another")
    assert fingerprint() == found[-1], "shards have their own"
