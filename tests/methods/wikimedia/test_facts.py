"""The facts of a page and of a file, read from the API's answers, which are put together."""

import pytest

from methods.wikimedia.answers import MissingTitle, find_pages, merge_answers
from methods.wikimedia.facts import (
    FileFacts,
    PageFacts,
    PageImage,
    file_facts,
    page_facts,
    page_images,
    plain_text,
)

OWL = {"pageid": 1, "ns": 0, "title": "Owl"}
KITE = {"pageid": 2, "ns": 0, "title": "Kite"}


def test_a_page_edited_between_two_answers_keeps_the_older_revision():
    """So that the next look finds it changed."""
    answers = [{"query": {"pages": [OWL | {"lastrevid": revision}]}} for revision in (7, 9)]
    assert merge_answers(answers)["pages"] == [OWL | {"lastrevid": 7}]


def test_an_answer_in_pieces_is_put_together_whichever_piece_a_value_stands_in():
    """Each piece names every page; items of a list are spread over the pieces in their order."""
    normalized = [{"from": "owl", "to": "Owl"}]
    pieces = [
        [OWL | {"lastrevid": 7, "images": [{"title": "a"}]}, KITE],
        [OWL | {"images": [{"title": "b"}, {"title": "c"}]}, KITE | {"extract": "A kite."}],
        [OWL | {"images": [], "categories": [{"title": "x"}]}, KITE | {"extract": "A kite."}],
    ]
    answers = [{"query": {"normalized": normalized, "pages": pages}} for pages in pieces]
    images = [{"title": name} for name in "abc"]
    whole = {
        "normalized": normalized,
        "pages": [
            OWL | {"lastrevid": 7, "images": images, "categories": [{"title": "x"}]},
            KITE | {"extract": "A kite."},
        ],
    }
    assert merge_answers(answers) == whole
    # An answer that is heard twice says nothing new.
    assert merge_answers(each for answer in answers for each in (answer, answer)) == whole


def test_titles_in_other_forms_of_unicode_and_of_chinese_are_found():
    """The API percent-encodes a title that it would write otherwise; ours are sent composed."""
    bird, moon = ({"pageid": n, "title": title} for n, title in ((3, "Vógel"), (4, "月")))
    query = {
        "normalized": [{"fromencoded": True, "from": "%D9%84%D8%A7", "to": "لا (x)"}],
        "converted": [{"from": "月亮", "to": "月"}],
        "pages": [bird, moon, {"pageid": 5, "title": "لا (x)"}],
    }
    found = find_pages(query, ["Vo\u0301gel", "月亮", "لا"])
    assert found["Vo\u0301gel"] is bird
    assert found["月亮"] is moon
    assert found["لا"] == {"pageid": 5, "title": "لا (x)"}


INVALID = {"title": "a<b", "invalidreason": "It has a bad character.", "invalid": True}
LEADS_NOWHERE = {
    "redirects": [
        {"from": "Here", "to": "There"},
        {"from": "There", "to": "Here"},
        {"from": "Away", "to": "fr:Chouette", "tointerwiki": "fr"},
    ],
    "interwiki": [{"title": "fr:Chouette", "iw": "fr"}],
    "pages": [
        INVALID,
        {"ns": 0, "title": "Gone", "missing": True},
        {"ns": 6, "title": "File:Shared.jpg", "missing": True, "known": True},
        {"ns": -1, "title": "Special:Random", "special": True},
        {"ns": 0, "title": "Listed", "invalid": True, "invalidreason": ["a", "list"]},
    ],
}


@pytest.mark.parametrize(
    ("asked", "reason", "detail"),
    [
        ("Gone", "missing", "no page"),
        ("File:Shared.jpg", "missing", "no page"),
        ("Here", "missing", "circle"),
        ("Away", "missing", "another wiki, 'fr'"),
        ("fr:Chouette", "missing", "another wiki"),
        ("a<b", "invalid", "bad character"),
        ("Special:Random", "invalid", "function"),
        ("Listed", "invalid", "no title"),
        ("Unheard of", "invalid", "says nothing"),
        ("half a \ud83d", "invalid", "character"),
        (" ", "invalid", "empty"),
    ],
)
def test_a_title_that_leads_to_no_page_is_told_with_its_reason(asked, reason, detail):
    found = find_pages(LEADS_NOWHERE, [asked])[asked]
    assert isinstance(found, MissingTitle)
    assert (found.asked, found.reason) == (asked, reason)
    assert detail in found.detail and found.detail.endswith(".")


def test_the_facts_of_a_page():
    page = {
        "pageid": 2,
        "ns": 0,
        "title": "Kite",
        "lastrevid": 8,
        "canonicalurl": "https://de.wikipedia.org/wiki/Kite",
        "categories": [{"ns": 14, "title": "Kategorie:Vögel: Arten"}],
        "langlinks": [
            {"lang": "en", "title": "Kite", "url": "https://en.wikipedia.org/wiki/Kite"},
            {"lang": "fr", "title": "Milan", "url": "https://fr.wikipedia.org/wiki/Milan"},
        ],
    }
    assert page_facts("kite", "de", page) == PageFacts(
        asked="kite",
        language="de",
        title="Kite",
        page_id=2,
        revision=8,
        url="https://de.wikipedia.org/wiki/Kite",
        categories=("Vögel: Arten",),
        extract="",
        versions=("https://en.wikipedia.org/wiki/Kite", "https://fr.wikipedia.org/wiki/Milan"),
    )
    with pytest.raises(KeyError):
        page_facts("kite", "de", {"pageid": 2, "ns": 0, "title": "Kite"})


def test_the_images_of_a_page():
    """A film, and a formula that has no file, are left out; section and caption may be absent."""
    items = [
        {
            "title": "File:Barn_owl_(Tyto).jpg",
            "leadImage": True,
            "section_id": 0,
            "type": "image",
            "caption": {"html": "A <b>barn</b> owl", "text": "A barn\n owl "},
        },
        {"title": "File:Owl.webm", "leadImage": False, "section_id": 1, "type": "video"},
        {"leadImage": False, "section_id": 1, "type": "image", "original": {"mime": "image/svg"}},
        {"title": "File:Map.svg", "type": "image", "caption": {"html": "", "text": " "}},
        {"title": "File:Egg.png", "leadImage": False, "section_id": 3, "type": "image"},
    ]
    assert page_images({"revision": "7", "items": items}) == (
        PageImage("File:Barn owl (Tyto).jpg", "A barn owl", 0, True),
        PageImage("File:Map.svg", None, 0, False),
        PageImage("File:Egg.png", None, 3, False),
    )


INFO = {
    "size": 900,
    "width": 1200,
    "height": 800,
    "thumburl": "https://thumb.wikimedia.org/x/330px-A.jpg?utm_source=en.wikipedia.org",
    "url": "https://upload.wikimedia.org/x/A%3F.jpg?utm_source=en.wikipedia.org&utm_content=original",
    "sha1": "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "mime": "image/jpeg",
}


def said(**about: str) -> dict:
    return {name: {"value": value, "source": "commons-desc-page"} for name, value in about.items()}


def test_the_facts_of_a_file():
    """It is a shared one, which the language's wiki has no page of."""
    about = said(
        LicenseShortName="CC BY-SA 4.0",
        UsageTerms="Creative Commons Attribution-Share Alike 4.0",
        LicenseUrl="//creativecommons.org/licenses/by-sa/4.0",
        Artist='<a href="//commons.wikimedia.org/wiki/User:Me">Me &amp; you</a>',
        Credit="Own work",
        ImageDescription="<p>An owl</p><p>at night</p>",
    )
    page = {"ns": 6, "title": "Datei:A?.jpg", "missing": True, "known": True}
    page |= {"imagerepository": "shared", "imageinfo": [INFO | {"extmetadata": about}]}
    assert find_pages({"pages": [page]}, ["Datei:A?.jpg"]) == {"Datei:A?.jpg": page}
    assert file_facts("File:A?.jpg", page) == FileFacts(
        asked="File:A?.jpg",
        title="Datei:A?.jpg",
        url="https://upload.wikimedia.org/x/A%3F.jpg",
        thumb_url="https://thumb.wikimedia.org/x/330px-A.jpg",
        width=1200,
        height=800,
        n_bytes=900,
        mime="image/jpeg",
        sha1="da39a3ee5e6b4b0d3255bfef95601890afd80709",
        licence="CC BY-SA 4.0",
        licence_url="https://creativecommons.org/licenses/by-sa/4.0",
        artist="Me & you",
        credit="Own work",
        description="An owl at night",
    )


def facts_of(**about: str) -> FileFacts:
    # PHP writes an empty map as an empty list.
    info = INFO | {"extmetadata": said(**about) or []}
    facts = file_facts("File:A.jpg", {"title": "File:A.jpg", "imageinfo": [info]})
    assert isinstance(facts, FileFacts)
    return facts


def test_what_a_description_does_not_say_is_none():
    facts = facts_of()
    assert (facts.licence, facts.licence_url, facts.artist) == (None, None, None)
    assert (facts.credit, facts.description) == (None, None)
    assert facts_of(LicenseShortName=" ", UsageTerms="Public domain").licence == "Public domain"
    # Only a web address is that of a licence.
    for url in ("javascript:alert(1)", "creativecommons.org", "data:text/html,x"):
        assert facts_of(LicenseUrl=url).licence_url is None


def test_a_page_without_a_file_to_see_is_missing():
    for page in (
        {"pageid": 1, "title": "File:Page without a file.jpg", "imagerepository": ""},
        {"title": "File:Deleted.jpg", "imageinfo": [{"filehidden": True, "size": 9}]},
        {"title": "File:Lost.jpg", "imageinfo": [{"filemissing": True}]},
    ):
        missing = file_facts(page["title"], page)
        assert isinstance(missing, MissingTitle) and missing.reason == "missing"


def test_the_text_that_a_reader_sees() -> None:
    expected = {
        "": "",
        "<b>bo</b>ld and <a href='x'>li<i>nk</i></a>ed": "bold and linked",
        "one<br>two<br/>three<ul><li>four</li><li>five</li></ul>": "one two three four five",
        "a<script>alert('<b>')</script>b<style>p{}</style>c": "a b c",
        'x<div style="display: none;">y<p>y<br>y</p></div>z': "x z",
        "if a < b, c > d & e": "if a < b, c > d & e",
        "a<!-- <b>no</b> -->b": "ab",
        "half a character: \ud83e": "half a character: ?",
        "<b>" * 50_000 + "deep": "deep",
    }
    assert {html: plain_text(html) for html in expected} == expected
