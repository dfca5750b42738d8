"""Broken answers of Wikipedia, and of the storages that far shards are downloaded from."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from resources.corpus.corpus import Corpus
from resources.corpus.settings import CorpusError, WikipediaPages
from resources.corpus.wikipedia_shard import WikipediaShard
from resources.wikipedia import Wikipedia, WikipediaError
from tests.resources.broken_outcomes import Case, Outcome, Refused, Stopped
from tests.resources.corpus.storage_double import Stored, serving_storage
from tests.resources.images.upload_double import PICTURE
from tests.resources.wikipedia.mediawiki_double import File, MediaWiki, Page, Use
from tests.resources.wikipedia.mediawiki_faults import Fault, drop, error, html, maxlag, status

CONTACT = "me@example.org"
FOR_GOOD = 99


def wiki_of_one_owl() -> MediaWiki:
    """Two sound pages with an image each, two whose image is none, and redirects to each other."""
    pages = {
        "Owl": Page("An owl is a bird.", images=[Use("File:Owl.png", "An owl")]),
        "Kite": Page("A kite is a bird.", images=[Use("File:Owl.png", "No kite")]),
        "Ghost": Page("A ghost is none.", images=[Use("File:Ghost.png", "A ghost")]),
        "Maze": Page("A maze has walls.", images=[Use("File:a<b.png", "No title")]),
        "Stone": Page("A stone is hard."),
        "Hen": Page(redirect_to="Egg"),
        "Egg": Page(redirect_to="Hen"),
    }
    return MediaWiki(pages, {"File:Owl.png": File(PICTURE)})


def shard(wikipedia: Wikipedia, titles: list[str], language: str = "en") -> WikipediaShard:
    pages = WikipediaPages(language=language, pages=titles)
    return WikipediaShard("owls", pages, lambda: wikipedia, "https://wiki.example.org/api.php")


def opened(folder: Path, wiki: MediaWiki) -> Wikipedia:
    return Wikipedia(CONTACT, api=wiki.api, folder=folder / "wikipedia", backoff=0.001)


def of_title(title: str) -> Callable[[Path], Outcome]:
    """A shard in which this title stands between two sound ones."""

    def feed(folder: Path) -> Outcome:
        with wiki_of_one_owl() as wiki:
            owls = shard(opened(folder, wiki), ["Owl", title, "Kite"])
            owls.fetch(lambda _: None)
        staged = owls.stage(folder)
        assert staged.n_rows == 2
        (path,) = staged.rejected.paths
        (row,) = pq.read_table(path).to_pylist()
        return Refused("row", row["reference"], row["reason"], row["detail"])

    return feed


def of_answer(fault: Fault, language: str = "en") -> Callable[[Path], Outcome]:
    """A wiki that meets every request with this fault."""

    def feed(folder: Path) -> Outcome:
        with wiki_of_one_owl() as wiki:
            wiki.fail(fault, times=FOR_GOOD)
            return stopped(lambda: shard(opened(folder, wiki), ["Owl"], language))

    return feed


def without_images(folder: Path) -> Outcome:
    """Of the pages of a shard none shows an image."""
    with wiki_of_one_owl() as wiki:
        return stopped(lambda: shard(opened(folder, wiki), ["Stone", "Roc"]))


def stopped(make: Callable[[], WikipediaShard]) -> Outcome:
    try:
        make().fetch(lambda _: None)
    except (CorpusError, WikipediaError) as broken:
        return Stopped("ingest/wit_rows", str(broken))
    raise AssertionError("The wiki answered.")


def no_fault(_: object) -> bool:
    return False


def of_asker(contact: str | None, api: str | None = None) -> Callable[[Path], Outcome]:
    """Settings with this contact and this address of the API."""

    def feed(folder: Path) -> Outcome:
        with wiki_of_one_owl() as wiki:
            outcome = stopped(
                lambda: shard(Wikipedia(contact, api=api or wiki.api, folder=folder), ["Owl"])
            )
            assert wiki.requests == []
        return outcome

    return feed


def damaged_record(folder: Path) -> Outcome:
    """A byte of what is kept has changed: not at its end, where a run may have been killed."""
    with wiki_of_one_owl() as wiki:
        shard(opened(folder, wiki), ["Owl", "Kite"]).fetch(lambda _: None)
        kept = folder / "wikipedia" / "owls.pages.jsonl"
        kept.write_bytes(b"?" + kept.read_bytes()[1:])
        return stopped(lambda: shard(opened(folder, wiki), ["Owl"]))


WIKIPEDIA = [
    Case("A page that does not exist", of_title("Roc")),
    Case("An invalid page title", of_title("a<b")),
    Case("Circular redirects", of_title("Hen")),
    Case("An image with a deleted file", of_title("Ghost")),
    Case("An image with an invalid file title", of_title("Maze")),
    Case("A page without images", of_title("Stone")),
    Case("Only pages without images", without_images),
    Case("No `wikipedia.contact`", of_asker(None)),
    Case("A contact that is neither an address nor a URL", of_asker("somebody")),
    Case(
        "A URL that is not a MediaWiki API", of_asker(CONTACT, "https://{language}.wikipedia.org/")
    ),
    Case("A language without a wiki", of_answer(no_fault, "nl")),
    Case("MediaWiki `maxlag` errors, eight times", of_answer(maxlag("0"))),
    Case("429 with a wait of one hour", of_answer(status(429, "3600"))),
    Case("An error page, eight times", of_answer(html())),
    Case("A connection that closes early, eight times", of_answer(drop())),
    Case("A refused request", of_answer(error("badvalue", "Unrecognized value."))),
    Case("403", of_answer(status(403))),
    Case("A damaged line in the stored responses", damaged_record),
]


# --- Far shards ----------------------------------------------------------------------------------


def of_storage(change: Callable[[Stored], None]) -> Callable[[Path], Outcome]:
    """A shard in a storage that something is wrong with."""

    def feed(folder: Path) -> Outcome:
        with serving_storage() as storage:
            stored = storage.put("owls.tsv.gz", b"not looked at")
            change(stored)
            (folder / "corpus.yaml").write_text(f"shards: [{stored.url}]\n")
            try:
                Corpus(folder, folder / "home").shard("owls").fetch(lambda _: None)
            except CorpusError as broken:
                return Stopped("ingest/wit_rows", str(broken))
        raise AssertionError("The shard was downloaded.")

    return feed


def always(code: int) -> Callable[[Stored], None]:
    return lambda stored: stored.statuses.extend([code] * FOR_GOOD)


def is_a_page(stored: Stored) -> None:
    stored.mime = "text/html"


FAR = [
    Case("A remote shard that does not exist (404)", of_storage(always(404))),
    Case("A remote shard without public access (403)", of_storage(always(403))),
    Case("A login page instead of the shard", of_storage(is_a_page)),
    Case("An overloaded storage (503), six times", of_storage(always(503))),
]
