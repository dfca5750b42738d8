"""Continued answers of the MediaWiki API put together, and titles found in them again."""

import pytest

from methods.wikimedia import MissingTitle, find_pages, merge_answers

OWL = {"pageid": 1, "ns": 0, "title": "Owl"}
KITE = {"pageid": 2, "ns": 0, "title": "Kite"}


def test_nothing_asked_is_nothing_answered():
    assert merge_answers([]) == {"pages": []}
    assert merge_answers([{"batchcomplete": True}]) == {"pages": []}


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


def test_each_title_leads_to_its_page():
    """Two titles lead to one page, one of them through a normalization and two redirects."""
    query = {
        "normalized": [{"fromencoded": False, "from": "barn_owls", "to": "Barn owls"}],
        "redirects": [
            {"from": "Barn owls", "to": "Barn owl"},
            {"from": "Barn owl", "to": "Owl", "tofragment": "Barn owls"},
        ],
        "pages": [OWL, KITE],
    }
    assert find_pages(query, ["barn_owls", "Owl", "Kite", "Barn owl"]) == {
        "barn_owls": OWL,
        "Owl": OWL,
        "Kite": KITE,
        "Barn owl": OWL,
    }


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
        {"from": "Self", "to": "Self"},
        {"from": "Away", "to": "fr:Chouette", "tointerwiki": "fr"},
        {"from": "Old", "to": "Gone"},
    ],
    "interwiki": [{"title": "fr:Chouette", "iw": "fr"}],
    "pages": [
        INVALID,
        {"ns": 0, "title": "Gone", "missing": True},
        {"ns": 6, "title": "File:Shared.jpg", "missing": True, "known": True},
        {"ns": -1, "title": "Special:Random", "special": True},
    ],
}


@pytest.mark.parametrize(
    ("asked", "reason", "detail"),
    [
        ("Gone", "missing", "no page"),
        ("Old", "missing", "no page"),
        ("File:Shared.jpg", "missing", "no page"),
        ("Here", "missing", "circle"),
        ("Self", "missing", "circle"),
        ("Away", "missing", "another wiki, 'fr'"),
        ("fr:Chouette", "missing", "another wiki"),
        ("a<b", "invalid", "bad character"),
        ("Special:Random", "invalid", "function"),
        ("Unheard of", "invalid", "says nothing"),
        ("a|b", "invalid", "character"),
        ("half a \ud83d", "invalid", "character"),
        (" ", "invalid", "empty"),
    ],
)
def test_a_title_that_leads_to_no_page_is_told_with_its_reason(asked, reason, detail):
    found = find_pages(LEADS_NOWHERE, [asked])[asked]
    assert isinstance(found, MissingTitle)
    assert (found.asked, found.reason) == (asked, reason)
    assert detail in found.detail and found.detail.endswith(".")
