"""Shards out of Wikipedia, and what it adds to other shards, against a small one on loopback."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus
from tests.assets.ingesting import ANY_LOSS, by_title, table, wit_line, write_settings
from tests.assets.world import World
from tests.methods.ingest.pictures_drawn import encoded
from tests.resources.wikipedia.mediawiki_double import File, MediaWiki, Page, Request, Use

pytestmark = pytest.mark.slow

CONTACT = "me@example.org"
LICENCE = {"LicenseShortName": "CC BY-SA 4.0", "LicenseUrl": "https://example.org/by-sa"}
OWLS = {"pages": ["Barn owl", "Owl of barns", "Roc", "a<b"], "categories": ["Arctic birds"]}
"""A page, a redirect to it, one that does not exist, what is no title; and a category of one page."""
Make = Callable[..., World]


def drawing(colour: str) -> bytes:
    image = Image.new("RGB", (96, 80), colour)
    image.paste("black", (16, 16, 64, 48))
    return encoded(image)


@pytest.fixture
def wiki() -> Iterator[MediaWiki]:
    pages = {
        "Barn owl": Page(
            "The barn owl hunts by ear.",
            ["Owls", "Farm animals"],
            [
                Use("File:Barn owl.png", "A barn owl at dusk", lead=True),
                Use("File:Burnt.png", "A picture that was deleted"),
            ],
        ),
        "Owl of barns": Page(redirect_to="Barn owl"),
        "Snowy owl": Page("The snowy owl is white.", ["Arctic birds"], [Use("File:Snowy owl.png")]),
        "Stone": Page("A stone is hard.", ["Minerals"]),
    }
    files = {
        "File:Barn owl.png": File(drawing("brown"), {**LICENCE, "Artist": "<b>Ada</b> L."}),
        "File:Snowy owl.png": File(
            drawing("white"), {"LicenseShortName": "CC0", "ImageDescription": "An owl on snow"}
        ),
    }
    with MediaWiki(pages, files) as wiki:
        yield wiki


@pytest.fixture
def make(make_world: MakeWorld, tmp_path: Path, wiki: MediaWiki) -> Make:
    """A world whose corpus has these settings on Wikipedia; images are fetched from the double."""

    def make(**wikipedia: object) -> World:
        corpus = Corpus(tmp_path / "corpus")
        images = {"allow_private_addresses": True, "licence": {"name": "LicenseRef-By-Default"}}
        known = {"contact": CONTACT, "api": wiki.api}
        write_settings(
            corpus.folder, wikipedia=known | wikipedia, images=images, languages=["en", "nl"]
        )
        return make_world(tmp_path, corpus)

    return make


def asked(requests: list[Request]) -> dict[str, set[str]]:
    """What was asked for -> the titles it was asked of."""
    found: dict[str, set[str]] = {}
    for request in requests:
        what = request.parameters.get("list") or request.parameters.get("prop") or "media list"
        found.setdefault(what, set()).update(request.titles)
    return found


def test_pages_become_entries_with_captions_categories_licences_and_versions(make, wiki):
    owl = Use("File:Snowy owl.png", "Een uil")
    wiki.languages["nl"] = {
        "Kerkuil": Page("Hij jaagt op gehoor.", ["Uilen"], [owl], versions={"en": "Barn owl"})
    }
    wiki.languages["en"]["Barn owl"].edit(versions={"nl": "Kerkuil"})
    world = make(shards={"owls": OWLS, "uilen": {"language": "nl", "pages": ["Kerkuil"]}})
    assert world.ingest("owls", ANY_LOSS).success and world.ingest("uilen", ANY_LOSS).success
    entries = by_title(world, "entries")
    assert set(entries) == {"Barn owl", "Snowy owl", "Kerkuil"}
    barn, snowy = entries["Barn owl"], entries["Snowy owl"]
    # What is written under the picture comes before what its file says of it.
    assert (barn["caption"], snowy["caption"]) == ("A barn owl at dusk", "An owl on snow")
    assert barn["page_url"] == "https://en.wikipedia.org/wiki/Barn_owl"
    assert barn["page_text"] == "The barn owl hunts by ear."
    assert sorted(barn["categories"]) == ["Farm animals", "Owls"]
    said = [[row[name] for name in ("licence", "licence_url", "artist")] for row in (barn, snowy)]
    assert said == [
        ["CC-BY-SA-4.0", "https://example.org/by-sa", "Ada L."],
        ["CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/", None],
    ]
    # The versions of a page in other languages are read for the split.
    page_ids = {row["title"]: row["page_id"] for row in table(world, "pages")}
    read = world.warehouse.read("cluster/page_images").to_pylist()
    assert {row["page_id"]: row["versions"] for row in read} == {
        page_ids["Barn owl"]: [page_ids["Kerkuil"]],
        page_ids["Snowy owl"]: [],
        page_ids["Kerkuil"]: [page_ids["Barn owl"]],
    }


COMMONS = "https://upload.wikimedia.org/wikipedia/commons/a/ab/"


def enriched(world: World) -> None:
    """A shard of four pages; what there is of their images lies in the folder."""
    rows = [
        wit_line("Barn owl", f"{COMMONS}Barn_owl.png", context_page_description=""),
        wit_line("Owl of barns", f"{COMMONS}Snowy_owl.png"),
        wit_line("Stone", "https://example.org/stone.png"),
        wit_line("Roc", f"{COMMONS}Roc.png"),
    ]
    world.corpus.write_shard("mine", rows)
    for colour, row in zip(("brown", "white", "grey", "red"), rows, strict=True):
        name = row["image_url"].rpartition("/")[2]
        (world.corpus.images / name).write_bytes(drawing(colour))
    world.corpus.add_categories("Stone", ["My stones"])
    assert world.ingest("mine").success


def test_enriched_pages_have_what_their_rows_lack(make: Make, wiki: MediaWiki) -> None:
    wiki.originals = COMMONS
    world = make(enrich=True)
    enriched(world)
    pages, entries = by_title(world, "pages"), by_title(world, "entries")
    assert pages["Barn owl"]["page_text"] == "The barn owl hunts by ear."
    # What the row and the corpus's own file say comes first.
    assert pages["Owl of barns"]["page_text"] == "Owl of barns is described here."
    assert {title: sorted(page["categories"]) for title, page in pages.items()} == {
        "Barn owl": ["Farm animals", "Owls"],
        "Owl of barns": ["Farm animals", "Owls"],
        "Stone": ["My stones"],
        "Roc": [],
    }
    assert {title: entry["licence"] for title, entry in entries.items()} == {
        "Barn owl": "CC-BY-SA-4.0",
        "Owl of barns": "CC0-1.0",
        "Stone": "LicenseRef-By-Default",
        "Roc": "LicenseRef-By-Default",
    }
    assert entries["Barn owl"]["artist"] == "Ada L."
    assert asked(wiki.requests) == {
        "info": {"Barn owl", "Owl of barns", "Roc"},
        "info|categories|extracts|langlinks": {"Barn owl"},
        "imageinfo": {"File:Barn owl.png", "File:Snowy owl.png", "File:Roc.png"},
    }
    # The pictures themselves lie in the folder.
    assert wiki.uploads == []
    # A file that was overwritten has its new licence.
    wiki.files["File:Snowy owl.png"] = File(drawing("pink"), LICENCE)
    assert world.ingest("mine").success
    assert by_title(world, "entries")["Owl of barns"]["licence"] == "CC-BY-SA-4.0"
    # A local file of the wiki is not the file of the same name on Commons.
    wiki.originals = COMMONS.replace("commons", "en")
    wiki.files["File:Snowy owl.png"] = File(drawing("blue"), LICENCE)
    assert world.ingest("mine").success
    assert by_title(world, "entries")["Owl of barns"]["licence"] == "LicenseRef-By-Default"


def test_nothing_is_asked_of_wikipedia_unless_the_settings_say_so(make, wiki):
    world = make()
    enriched(world)
    assert wiki.requests == []
    pages = by_title(world, "pages")
    # Without a text it is no page.
    assert set(pages) == {"Owl of barns", "Stone", "Roc"}
    assert pages["Stone"]["categories"] == ["My stones"]
    assert {row["licence"] for row in table(world, "entries")} == {"LicenseRef-By-Default"}
