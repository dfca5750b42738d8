"""What is asked of Wikipedia and what comes of it, against a small one on the loopback address."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator

import httpx2
import pytest

from methods.wikimedia.answers import MissingTitle
from methods.wikimedia.facts import FileFacts, PageFacts, PageImage
from resources.wikipedia import Wikipedia, WikipediaError, api_client
from tests.doubles.one_colour import one_colour
from tests.resources.wikipedia import mediawiki_faults as faults
from tests.resources.wikipedia.mediawiki_double import File, MediaWiki, Page, Use

PICTURE = one_colour("teal", (600, 400))
ABOUT = {"LicenseShortName": "CC0", "Artist": "<b>Ada</b>"}


@pytest.fixture
def wiki() -> Iterator[MediaWiki]:
    """One category, extract and file an answer: every list is continued."""
    pages = {
        "Owl": Page(
            "An owl is a bird.",
            ["Birds", "Nocturnal animals"],
            [
                Use("File:Barn owl.png", "A barn owl", lead=True),
                Use("File:Owl egg.png", section_id=3),
            ],
        ),
        "Kite": Page("A kite is a bird or a toy.", ["Birds", "Toys"]),
        "Stone": Page(),
        "Owls": Page(redirect_to="Owl"),
        "Owls at night": Page(redirect_to="Owls#Night"),
        "Loop": Page(redirect_to="Loop again"),
        "Loop again": Page(redirect_to="Loop"),
    }
    files = {"File:Barn owl.png": File(PICTURE, ABOUT), "File:Map é.png": File(PICTURE)}
    with MediaWiki(pages, files) as wiki:
        wiki.at_once = 1
        wiki.languages["de"] = {"Eule": Page("Eulen sind Vögel.", ["Vögel"])}
        yield wiki


@pytest.mark.parametrize("contact", ["me@example.org", "https://example.org/bot", "Me, me@x.org"])
def test_every_request_names_who_asks_and_what_with(wiki, tmp_path, contact):
    wikipedia = Wikipedia(contact, api=wiki.api, folder=tmp_path)
    wikipedia.page_images("birds", "en", ["Owl"])
    for request in wiki.requests:
        expected = f"vlm-loom/0.1 ({contact}) httpx2/{httpx2.__version__}"
        assert request.headers["user-agent"] == expected
        assert request.headers["accept-encoding"] == "gzip"
    api = [request for request in wiki.requests if request.path.endswith("/w/api.php")]
    assert len(api) < len(wiki.requests)
    for request in api:
        assert request.parameters["maxlag"] == "5"
        assert request.parameters["formatversion"] == "2"


@pytest.mark.parametrize(
    "api",
    [
        "https://{language}.wikipedia.org/",
        "https://{language}.wikipedia.org",
        "https://example.org/api.php?token=secret",
        "{language}.wikipedia.org/w/api.php",
        "ftp://{language}.wikipedia.org/w/api.php",
        "https://[{language}/w/api.php",
        "https://{language}:port/w/api.php",
    ],
)
def test_an_address_of_no_api_is_refused_and_who_asks_must_be_named(wiki, tmp_path, api):
    for contact in (None, "", "somebody", "me@home", "me (me@example.org)", "é@example.org"):
        with pytest.raises(WikipediaError, match="contact"):
            Wikipedia(contact, api=wiki.api, folder=tmp_path)
    with pytest.raises(WikipediaError, match=r"like https://\{language\}.wikipedia.org") as caught:
        Wikipedia("me@example.org", api=api, folder=tmp_path)
    assert "secret" not in str(caught.value)


def test_what_is_no_language_never_becomes_part_of_an_address_nor_a_name_of_a_path(wiki, wikipedia):
    for language in ("", "EN", "en.evil.org/", "en/../de", "@x", "en\n"):
        with pytest.raises(WikipediaError, match="not a language"):
            wikipedia.pages("birds", language, ["Owl"])
    for shard in ("", "a/b", "..", ".hidden", "/tmp/x"):
        with pytest.raises(WikipediaError, match="another name"):
            wikipedia.pages(shard, "en", ["Owl"])
    assert not wiki.requests


def test_the_facts_of_pages_through_all_continuations(wiki, wikipedia):
    extracts = {
        "Kite": (("Birds", "Toys"), "A kite is a bird or a toy."),
        "Stone": ((), ""),
        "Owl": (("Birds", "Nocturnal animals"), "An owl is a bird."),
    }
    assert wikipedia.pages("birds", "en", list(extracts)) == {
        title: PageFacts(
            asked=title,
            language="en",
            title=title,
            page_id=wiki.languages["en"][title].page_id,
            revision=wiki.languages["en"][title].revision,
            url=f"https://en.wikipedia.org/wiki/{title}",
            categories=categories,
            extract=extract,
        )
        for title, (categories, extract) in extracts.items()
    }
    assert len([each for each in wiki.requests if "continue" in each.parameters]) > 3


def test_another_language_is_another_wiki(wiki, wikipedia):
    facts = wikipedia.pages("birds", "de", ["eule"])["eule"]
    assert (facts.language, facts.title, facts.categories) == ("de", "Eule", ("Vögel",))
    assert {request.path for request in wiki.requests} == {"/de/w/api.php"}
    with pytest.raises(WikipediaError, match="There is no MediaWiki API at .*/nl/w/api.php"):
        wikipedia.pages("birds", "nl", ["Uil"])


def test_answers_are_keyed_by_what_was_asked(wikipedia):
    """Four ways to one page, and it is fetched in full once."""
    asked = ["Owls at night", "owls", "Owl", "Owl#Food", "Owl"]
    found = wikipedia.pages("birds", "en", asked)
    assert {facts.title for facts in found.values()} == {"Owl"}
    assert list(found) == [facts.asked for facts in found.values()] == asked[:4]


def test_what_is_no_page_is_told_and_not_dropped(wiki, wikipedia):
    found = wikipedia.pages("birds", "en", ["Roc", "a<b", "Loop", "a|b", "", "Owl"])
    assert isinstance(found.pop("Owl"), PageFacts)
    reasons = {asked: each.reason for asked, each in found.items()}
    invalid = dict.fromkeys(("a<b", "a|b", ""), "invalid")
    assert reasons == {"Roc": "missing", "Loop": "missing", **invalid}
    wiki.requests.clear()
    assert isinstance(wikipedia.pages("birds", "en", ["a|b"])["a|b"], MissingTitle)
    assert wikipedia.pages("birds", "en", []) == {}
    assert not wiki.requests


def test_fifty_titles_a_request_long_ones_by_post(wiki, wikipedia):
    wiki.at_once = 500
    wiki.languages["en"] |= {f"Bird {number}": Page() for number in range(120)}
    told: list[tuple[int, int]] = []
    titles = [f"Bird {number}" for number in range(120)]
    found = wikipedia.pages("birds", "en", titles, lambda done, total: told.append((done, total)))
    assert list(found) == titles
    revisions = [each for each in wiki.requests if each.parameters["prop"] == "info"]
    assert sorted(len(request.titles) for request in revisions) == [20, 50, 50]
    assert told[-1] == (120, 120)
    assert sorted(told) == told
    # Many long ones are posted.
    wiki.requests.clear()
    titles = [f"{'Ñandú ' * 20}{number}" for number in range(50)]
    wiki.languages["en"] |= {title: Page() for title in titles}
    assert len(wikipedia.pages("birds", "en", ["Owl", *titles])) == 51
    assert {request.method for request in wiki.requests} == {"POST", "GET"}
    assert max(len(request.titles) for request in wiki.requests) == 50


def test_the_images_of_pages(wiki, wikipedia):
    wiki.languages["en"]["AC/DC? é"] = Page(images=[Use("File:Barn owl.png", "The band")])
    found = wikipedia.page_images("birds", "en", ["owls", "AC/DC?_é", "Stone", "Roc"])
    assert found.pop("Roc").reason == "missing"
    assert found == {
        "owls": (
            PageImage("File:Barn owl.png", "A barn owl", 0, True),
            PageImage("File:Owl egg.png", None, 3, False),
        ),
        "AC/DC?_é": (PageImage("File:Barn owl.png", "The band", 0, False),),
        "Stone": (),
    }
    paths = {request.path for request in wiki.requests if "rest_v1" in request.path}
    base = "/en/api/rest_v1/page/media-list"
    assert paths == {f"{base}/Owl", f"{base}/AC%2FDC%3F_%C3%A9", f"{base}/Stone"}


def test_a_page_that_the_rest_api_does_not_know_has_the_images_that_it_is_rendered_with(
    wiki, wikipedia
):
    def vanish(handler) -> bool:
        handler.send_json({"type": "not_found"}, 404)
        return True

    wiki.fail(vanish, on="media-list")
    text = '<p><img src="/b/b1/Barn_owl.png"></p>'
    shown = {"parse": {"text": text, "images": ["Barn_owl.png"]}}
    wiki.fail(faults.text(json.dumps(shown)), on="'action': 'parse'")
    image = PageImage("File:Barn owl.png", None, 0, True)
    assert wikipedia.page_images("birds", "en", ["Owl"]) == {"Owl": (image,)}


def test_a_password_in_the_address_is_sent_and_shown_nowhere(wiki, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(api_client, "TRIES", 1)
    caplog.set_level("DEBUG")
    api = wiki.api.replace("//", "//ada:p%40ss@")
    wikipedia = Wikipedia("me@example.org", api=api, folder=tmp_path)
    wikipedia.pages("birds", "en", ["Owl"])
    sent = {request.headers["authorization"] for request in wiki.requests}
    assert sent == {"Basic " + b64encode(b"ada:p@ss").decode()}
    with pytest.raises(WikipediaError, match="no MediaWiki API") as absent:
        wikipedia.pages("birds", "nl", ["Owl"])
    wiki.fail(faults.status(500))
    with pytest.raises(WikipediaError, match="no usable answer") as broken:
        wikipedia.pages("birds", "en", ["Owl"])
    kept = "".join(path.read_text() for path in tmp_path.iterdir())
    for text in (str(absent.value), str(broken.value), kept, caplog.text):
        assert "p@ss" not in text and "p%40ss" not in text and "ada" not in text


def test_the_facts_of_files(wiki, wikipedia):
    """A shared file is no page of this wiki, and has its facts; tags that name the wiki are cut off."""
    titles = ["File:Barn_owl.png", "File:Map é.png", "File:None.png", "Owl"]
    found = wikipedia.files("birds", "en", titles)
    assert found.pop("File:None.png").reason == found.pop("Owl").reason == "missing"
    barn = found["File:Barn_owl.png"]
    assert isinstance(barn, FileFacts)
    assert (barn.title, barn.width, barn.height) == ("File:Barn owl.png", 600, 400)
    assert (barn.n_bytes, barn.sha1) == (len(PICTURE), hashlib.sha1(PICTURE).hexdigest())
    assert (barn.licence, barn.artist, barn.description) == ("CC0", "Ada", None)
    assert barn.url == f"{wiki.address}/upload/Barn_owl.png"
    assert found["File:Map é.png"].url.endswith("/Map_%C3%A9.png")
    assert len([request for request in wiki.requests if "continue" in request.parameters]) == 1


def test_the_articles_in_a_category(wiki, wikipedia):
    wiki.languages["en"]["Category:Owls"] = Page(categories=["Birds"])
    assert wikipedia.category_members("en", "Birds", 10) == ["Kite", "Owl"]
    assert wikipedia.category_members("en", "Category:Birds", 10) == ["Kite", "Owl"]
    wiki.requests.clear()
    assert wikipedia.category_members("en", "Birds", 1) == ["Kite"]
    assert len(wiki.requests) == 1
    assert wikipedia.category_members("en", "Dragons", 10) == []
