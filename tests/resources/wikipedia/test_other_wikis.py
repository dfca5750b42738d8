"""Wikis without Wikimedia's services: no media lists, with and without TextExtracts, at any path.

The wiki is what a real MediaWiki answered; `python -m tests.mediawiki` runs the same tests against it.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from methods.wikimedia.answers import MissingTitle
from methods.wikimedia.facts import PageImage
from resources.corpus.settings import CorpusError, WikipediaPages
from resources.corpus.wikipedia_shard import WikipediaShard
from resources.files.limited_process import LimitedProcessError
from resources.wikipedia import Wikipedia, page_cache
from resources.wikipedia.page_parser import read_page
from tests.resources.wikipedia.recorded_wiki import PLAIN, WITH_EXTRACTS, AnsweringWiki, open_wiki

CONTACT = "me@example.org"
OWL = (
    PageImage("File:Barn owl.png", "A barn owl at dusk", 0, True),
    PageImage("File:Owl eggs.jpg", "Eggs of an owl", 1, False),
    PageImage("File:Snowy owl.png", "Another owl", 1, False),
    PageImage("File:Lost.png", None, 0, False),
)
"""In the page's order; what it names and does not show comes last."""


@pytest.fixture(scope="module")
def wiki() -> Iterator[AnsweringWiki]:
    with open_wiki[0]() as wiki:
        yield wiki


def opened(wiki: AnsweringWiki, path: str, folder: Path) -> Wikipedia:
    return Wikipedia(CONTACT, api=wiki.api(path), folder=folder)


def shard(wiki: AnsweringWiki, folder: Path, **chosen: list[str]) -> WikipediaShard:
    api = wiki.api(PLAIN)
    pages = WikipediaPages(**chosen)
    return WikipediaShard("owls", pages, lambda: opened(wiki, PLAIN, folder), api)


@pytest.mark.parametrize("path", [WITH_EXTRACTS, PLAIN])
def test_pages_have_their_introduction_as_text_and_their_categories(wiki, tmp_path, path):
    found = opened(wiki, path, tmp_path).pages("owls", "en", ["Owl of barns", "Empty", "Roc"])
    owl = found["Owl of barns"]
    assert (owl.title, owl.categories) == ("Barn owl", ("Owls", "Pages with broken file links"))
    # Without its table, its pictures' captions and the number of its note.
    lines = [line for line in owl.extract.split("\n") if line]
    assert lines == ["The barn owl hunts by ear.", "It is white below."]
    assert owl.url == f"{wiki.address}/w/index.php/Barn_owl"
    assert found["Empty"].extract == ""
    assert isinstance(found["Roc"], MissingTitle)


def test_a_page_that_takes_too_long_to_read_is_told_and_the_others_are_read(
    wiki, tmp_path, monkeypatch
):
    def read(html, names):
        if "barn owl" in html:
            raise LimitedProcessError("reading it took over 60 s")
        return read_page(html, names)

    monkeypatch.setattr(page_cache, "read_page", read)
    pages = opened(wiki, PLAIN, tmp_path / "pages").pages
    images = opened(wiki, WITH_EXTRACTS, tmp_path / "images").page_images
    for read_titles, titles in (
        (pages, ["Owl of barns", "Empty", "Roc"]),
        (images, ["Barn owl", "Snowy owl", "Stone"]),
    ):
        first, second, _ = read_titles("owls", "en", titles).values()
        assert isinstance(first, MissingTitle) and not isinstance(second, MissingTitle)
        assert "cannot be read: reading it took over 60 s." in first.detail


@pytest.mark.parametrize("path", [WITH_EXTRACTS, PLAIN])
def test_images_come_with_their_captions_where_there_is_no_media_list(wiki, tmp_path, path):
    wikipedia = opened(wiki, path, tmp_path)
    found = wikipedia.page_images("owls", "en", ["Barn owl", "Snowy owl", "Stone"])
    assert found == {
        "Barn owl": OWL,
        "Snowy owl": (PageImage("File:Snowy owl.png", None, 0, True),),
        "Stone": (),
    }
    before = len(wiki.requests)
    assert wikipedia.page_images("owls", "en", ["Barn owl", "Snowy owl", "Stone"]) == found
    # They are kept: the pages' revisions alone are asked for.
    assert len(wiki.requests) == before + 1


def test_a_wiki_without_media_lists_is_asked_for_one_of_them_at_most(wiki, tmp_path):
    wiki.requests.clear()
    opened(wiki, WITH_EXTRACTS, tmp_path).page_images("owls", "en", ["Stone", "Pebble"])
    opened(wiki, PLAIN, tmp_path).page_images("owls", "en", ["Stone", "Pebble"])
    paths = [path for _, _, path, _ in wiki.requests]
    assert len([path for path in paths if "media-list" in path]) in (1, 2), "two are asked at once"
    assert {path for path in paths if "media-list" not in path} == {WITH_EXTRACTS, PLAIN}


def test_what_is_kept_of_one_wiki_is_not_taken_for_another_ones(wiki, tmp_path):
    """Each wiki counts its revisions from 1."""
    first = opened(wiki, PLAIN, tmp_path)
    page = first.pages("owls", "en", ["Stone"])["Stone"]
    kept = tmp_path / "owls.pages.jsonl"
    kept.write_text(
        kept.read_text().replace(wiki.address, "https://elsewhere.org").replace("hard", "soft")
    )
    assert first.pages("owls", "en", ["Stone"])["Stone"] == page


def test_every_page_and_file_is_a_row_or_has_a_reason(wiki, tmp_path):
    owls = shard(wiki, tmp_path, pages=["Barn owl", "Stone", "Roc"], categories=["Owls"])
    owls.fetch(lambda _: None)
    staged = owls.stage(tmp_path)
    rows, (rejected,) = pa.ipc.open_stream(staged.rows.path), staged.rejected.paths
    taken = [
        (row["page_title"], row["image_url"].rpartition("/")[2])
        for row in rows.read_all().to_pylist()
    ]
    files = ("Barn_owl.png", "Owl_eggs.jpg", "Snowy_owl.png")
    assert taken == [*(("Barn owl", file) for file in files), ("Snowy owl", "Snowy_owl.png")]
    reasons = {row["excerpt"]: row["reason"] for row in pq.read_table(rejected).to_pylist()}
    assert reasons == {"File:Lost.png": "missing_file", "Stone": "no_images", "Roc": "missing_page"}
    assert owls.address == wiki.address.removeprefix("http://") + "/sites/birds"


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ({"categories": ["Stones"]}, "1 no_images"),
        ({"pages": ["Stone", "Roc"]}, "1 no_images, 1 missing_page"),
        ({"categories": ["Dragons"]}, "its categories have no pages"),
    ],
)
def test_no_row_at_all_is_an_error_in_one_sentence(wiki, tmp_path, chosen, why):
    with pytest.raises(CorpusError) as caught:
        shard(wiki, tmp_path, **chosen).fetch(lambda _: None)
    assert str(caught.value) == (
        f"Shard 'owls' has no row of {wiki.address.removeprefix('http://')}/sites/birds ({why}): "
        "choose other pages under wikipedia.shards in corpus.yaml, or correct wikipedia.api."
    )


def test_a_file_that_was_overwritten_has_other_facts(tmp_path):
    with open_wiki[0]() as wiki:
        wikipedia = opened(wiki, PLAIN, tmp_path)
        titles = ["File:Barn owl.png", "File:Snowy owl.png"]
        before = wikipedia.files("owls", "en", titles)
        assert wikipedia.files("owls", "en", titles) == before
        wiki.overwrite()
        after = wikipedia.files("owls", "en", titles)
    barn = [facts["File:Barn owl.png"] for facts in (before, after)]
    assert barn[0].sha1 != barn[1].sha1 and barn[0].url == barn[1].url
    assert after["File:Snowy owl.png"] == before["File:Snowy owl.png"]
