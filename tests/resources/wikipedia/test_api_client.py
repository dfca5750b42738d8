"""How Wikipedia is asked, and what is done when it does not answer as it should."""

import email.utils
import json
import socket
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

from methods.wikimedia.facts import PageFacts
from resources.wikipedia import Wikipedia, WikipediaError, api_client
from resources.wikipedia import wiki as wiki_module
from tests.resources.wikipedia import mediawiki_faults as faults
from tests.resources.wikipedia.mediawiki_double import MediaWiki, Page

pytestmark = pytest.mark.slow


@pytest.fixture
def wiki() -> Iterator[MediaWiki]:
    with MediaWiki({f"Bird {number}": Page("It flies.") for number in range(12)}) as wiki:
        yield wiki


@pytest.fixture
def short_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server's second is a tenth of one here."""
    monkeypatch.setattr(api_client, "retry_after", lambda value: value and float(value) / 10)


@pytest.mark.parametrize(
    "fault",
    [
        faults.maxlag("0"),
        faults.error("ratelimited", "You have made too many requests."),
        faults.error("readonly", "The wiki is in read-only mode."),
        faults.status(429, None),
        faults.status(503, email.utils.formatdate(time.time() - 60, usegmt=True)),
        faults.status(500),
        faults.html(),
        faults.drop(),
        faults.text('{"batchcomplete": true, "que'),
        faults.text('["not", "an", "object"]'),
    ],
)
def test_what_may_pass_is_tried_again(wiki, wikipedia, fault):
    wiki.fail(fault, times=2)
    wiki.fail(fault, times=2, on="extracts")
    found = wikipedia.pages("birds", "en", ["Bird 1"])
    assert isinstance(found["Bird 1"], PageFacts)
    assert len(wiki.requests) == 6


def test_what_does_not_pass_ends_in_a_sentence(wiki, wikipedia, tmp_path, monkeypatch):
    assert api_client.TRIES == 8
    monkeypatch.setattr(api_client, "TRIES", 3)
    wiki.fail(faults.maxlag("0"), times=99)
    with pytest.raises(WikipediaError) as caught:
        wikipedia.pages("birds", "en", ["Bird 1"])
    assert len(wiki.requests) == 3
    assert "3 tries (maxlag: Waiting for 10.64.16.7: 6.2 seconds lagged.)" in str(caught.value)
    assert "run this again later" in str(caught.value)
    # Nobody is at home.
    with socket.create_server(("127.0.0.1", 0)) as closed:
        api = f"http://127.0.0.1:{closed.getsockname()[1]}/{{language}}/w/api.php"
    nobody = Wikipedia("me@example.org", api=api, folder=tmp_path)
    with pytest.raises(WikipediaError, match="connection failed"):
        nobody.pages("birds", "en", ["Owl"])


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (faults.error("badvalue", "Unrecognized value."), r"\(badvalue: Unrecognized value\.\)"),
        (faults.status(403), "contact"),
        (faults.status(400), "status 400"),
        (faults.text('{"query": {"pages": [{"pageid": 1}]}}'), "form of MediaWiki's API"),
        (faults.text('{"query": {"pages": "none"}}'), "form of MediaWiki's API"),
        (faults.text('{"continue": 5}'), "form of MediaWiki's API"),
        (faults.text('{"continue": {"clcontinue": "\\ud800"}}'), "form of MediaWiki's API"),
        (faults.text('{"query": "' + "x" * 20_000 + '"}'), "an answer of over 10,000 bytes"),
        # The wiki of these tests is on a private address itself, as it is configured.
        (faults.redirect("http://10.0.0.1/en/w/api.php"), "leads to 10.0.0.1, which is"),
    ],
)
def test_what_another_try_would_not_change_is_said_at_once(
    wiki, wikipedia, monkeypatch, fault, told
):
    monkeypatch.setattr(api_client, "MOST_BYTES", 10_000)
    wiki.fail(fault)
    with pytest.raises(WikipediaError, match=told):
        wikipedia.pages("birds", "en", ["Bird 1"])
    assert len(wiki.requests) == 1


def test_a_redirect_on_the_wiki_s_own_host_is_followed(wiki, wikipedia):
    wiki.languages["de"] = {}
    query = "action=query&format=json&formatversion=2&list=categorymembers&cmtitle=Category:Vogel"
    wiki.fail(faults.redirect(f"/de/w/api.php?{query}"))
    assert wikipedia.category_members("en", "Birds", 1) == []
    assert [request.path for request in wiki.requests] == ["/en/w/api.php", "/de/w/api.php"]


@pytest.mark.parametrize(
    ("part", "pad", "told", "n_requests"),
    [
        ("same", "", "given already", 2),
        ("part %d", "", "continues its answer after 5 parts", 5),
        ("part %d", "x" * 4_000, "continues its answer after 10,000 characters", 3),
    ],
)
def test_an_answer_that_continues_for_ever_is_ended(
    wiki, wikipedia, monkeypatch, part, pad, told, n_requests
):
    monkeypatch.setattr(wiki_module, "MOST_ANSWERS", 5)
    monkeypatch.setattr(wiki_module, "MOST_CHARACTERS", 10_000)
    for number in range(9):
        following = {"continue": part.replace("%d", str(number))}
        answer = {"query": {"categorymembers": [], f"pad{number}": pad}, "continue": following}
        wiki.fail(faults.text(json.dumps(answer)))
    with pytest.raises(WikipediaError, match=told):
        wikipedia.category_members("en", "Birds", 1)
    assert len(wiki.requests) == n_requests


def test_without_a_wait_asked_for_each_wait_is_twice_the_last(wiki, wikipedia, monkeypatch):
    monkeypatch.setattr(api_client, "FIRST_BACKOFF", 0.02)
    wiki.fail(faults.status(429), times=4)
    wikipedia.pages("birds", "en", ["Bird 1"])
    waits = [later.at - earlier.at for earlier, later in pairwise(wiki.requests[:5])]
    assert all(wait >= least for wait, least in zip(waits, [0.02, 0.04, 0.08, 0.16], strict=True))


@pytest.mark.parametrize(
    "fault", [faults.maxlag("3"), faults.status(429, "3"), faults.status(504, "3")]
)
def test_a_wait_asked_for_holds_every_request_of_which_three_are_under_way_at_once(
    wiki, wikipedia, short_seconds, fault
):
    wiki.latency = 0.02
    titles = [f"Bird {number}" for number in range(12)]
    wikipedia.pages("birds", "en", titles)
    wiki.requests.clear()
    wiki.fail(fault, on="media-list/Bird_0 ")
    wikipedia.page_images("birds", "en", titles)
    lists = [request for request in wiki.requests if "media-list" in request.path]
    assert len(lists) == 13
    assert wiki.most_at_once == api_client.CONCURRENCY == 3
    pauses = [later.at - earlier.at for earlier, later in pairwise(lists)]
    pause = pauses.index(max(pauses))
    assert max(pauses) > 0.25
    # Before it, what was under way and what followed until the answer was here.
    assert pause < 8
    assert "/en/api/rest_v1/page/media-list/Bird_0" in [each.path for each in lists[pause + 1 :]]
