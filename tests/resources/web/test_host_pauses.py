"""A host that asks for a pause gets it from everything in the process that asks it."""

import email.utils
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import dagster as dg
import pytest

from dagster_project.job_runs import restore_signal_handlers
from dagster_project.resources import make_resources
from methods.ingest.image_check import ImageRejected
from resources.web.host_pauses import HostPauses, host_name, retry_after
from resources.wikipedia import WikipediaError
from tests.resources.images.upload_double import ok
from tests.resources.wikipedia import mediawiki_faults as faults
from tests.resources.wikipedia.mediawiki_double import MediaWiki, Page


@pytest.fixture
def wiki() -> Iterator[MediaWiki]:
    with MediaWiki({"Owl": Page("It flies.")}) as server:
        yield server


def test_a_shorter_pause_does_not_end_a_longer_one():
    pauses = HostPauses()
    pauses.pause("example.org", 100)
    pauses.pause("example.org", 5)

    assert 99 < pauses.seconds_left("example.org") <= 100
    assert pauses.seconds_left("example.com") == 0


def test_the_resources_of_a_process_share_a_pause_of_hours_and_wait_for_none(
    uploads, wiki, loom_home, monkeypatch
):
    """The corpus asks Wikipedia, the image fetcher the servers of the images."""
    corpus = loom_home / "corpus"
    corpus.mkdir(parents=True)
    (corpus / "corpus.yaml").write_text(
        f'wikipedia: {{contact: me@example.org, api: "{wiki.api}"}}\n'
        "images: {allow_private_addresses: true}\n"
    )
    monkeypatch.setenv("LOOM_CORPUS", str(corpus))
    made = make_resources()
    both = {name: made[name] for name in ("corpus", "image_fetcher")}
    wiki.fail(faults.status(429, "7200"))

    with restore_signal_handlers(), dg.build_resources(both) as resources:
        for _ in range(2):
            with pytest.raises(WikipediaError, match=r"wait 7\d+ seconds: run this again after"):
                resources.corpus.wikipedia.pages("birds", "en", ["Owl"])
        n_asked = len(wiki.requests)
        [(url, rejected)] = resources.image_fetcher.fetch_each([uploads.serve("owl.png", ok())])

    assert host_name(url) == urlsplit(wiki.api.replace("{language}", "en")).hostname
    assert isinstance(rejected, ImageRejected) and rejected.reason == "rate_limited"
    assert "seconds: run this again after that" in rejected.detail
    assert uploads.asked == {} and n_asked == 1


NEITHER = (None, "", "soon", "inf", "nan", "Thursday", "Fri, 31 Dec 99999 23:59:59 GMT")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *(("7", 7), ("0.25", 0.25), ("-3", 0), (" 2 ", 2), ("Thu, 01 Jan 1970 00:00:00 GMT", 0)),
        *((value, None) for value in NEITHER),
    ],
)
def test_a_number_is_seconds_a_past_date_no_wait_and_another_text_nothing(value, seconds):
    assert retry_after(value) == seconds


def test_a_date_counts_from_now_in_any_zone():
    then = time.time() + 100

    for date in (
        email.utils.formatdate(then, localtime=True),
        email.utils.formatdate(then, usegmt=True),
        time.asctime(time.gmtime(then)),  # the oldest form of an HTTP date has no zone: it is GMT
    ):
        assert retry_after(date) == pytest.approx(100, abs=2), date
