"""What has been fetched from Wikipedia is kept, and asked for again only when it has changed."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from methods.wikimedia.answers import MissingTitle
from resources.files.home import REPO_ROOT
from resources.wikipedia import Wikipedia, WikipediaError, api_client
from tests.doubles.one_colour import one_colour
from tests.resources.wikipedia import mediawiki_faults as faults
from tests.resources.wikipedia.mediawiki_double import File, MediaWiki, Page, Use

pytestmark = pytest.mark.slow

PICTURE = one_colour("teal", (40, 30))
TITLES = [f"Bird {number}" for number in range(120)]


@pytest.fixture
def wiki() -> Iterator[MediaWiki]:
    pages = {title: Page(f"{title} flies.", ["Birds"], [Use("File:A.png")]) for title in TITLES}
    with MediaWiki(pages, {"File:A.png": File(PICTURE)}) as wiki:
        yield wiki


def in_full(wiki: MediaWiki) -> list[str]:
    """The titles that were asked for with everything about them."""
    return [
        title
        for request in wiki.requests
        if "extracts" in request.parameters.get("prop", "") and "continue" not in request.parameters
        for title in request.titles
    ]


def n_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.is_file() else 0


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_page_is_asked_for_in_full_once_and_again_when_it_has_changed(wiki, wikipedia):
    titles = TITLES[:3]
    first = wikipedia.pages("birds", "en", titles)
    assert in_full(wiki) == titles
    wiki.requests.clear()
    assert wikipedia.pages("birds", "en", titles) == first
    assert [request.parameters["prop"] for request in wiki.requests] == ["info"]
    wiki.languages["en"]["Bird 1"].edit(text="Bird 1 sings.")
    second = wikipedia.pages("birds", "en", titles)
    assert in_full(wiki) == ["Bird 1"]
    assert second["Bird 1"].extract == "Bird 1 sings."
    assert second["Bird 1"].revision > first["Bird 1"].revision
    assert second["Bird 2"] == first["Bird 2"]


def test_a_redirect_that_leads_elsewhere_is_a_change_and_a_page_that_is_gone_is_missing(
    wiki, wikipedia
):
    def best():
        return wikipedia.pages("birds", "en", ["Best bird"])["Best bird"]

    wiki.languages["en"]["Best bird"] = Page(redirect_to="Bird 1")
    assert best().title == "Bird 1"
    wiki.languages["en"]["Best bird"].edit(redirect_to="Bird 2")
    assert best().title == "Bird 2"
    page = wiki.languages["en"].pop("Bird 2")
    assert isinstance(best(), MissingTitle), "though it is kept"
    wiki.languages["en"]["Bird 2"] = page
    assert best().title == "Bird 2"


def test_images_are_kept_with_the_pages_revision(wiki, wikipedia):
    first = wikipedia.page_images("birds", "en", TITLES[:2])
    wikipedia.pages("birds", "en", TITLES[:2])
    wiki.requests.clear()
    assert wikipedia.page_images("birds", "en", TITLES[:2]) == first
    assert [request.parameters["prop"] for request in wiki.requests] == ["info"]
    wiki.languages["en"]["Bird 1"].edit(images=[])
    assert wikipedia.page_images("birds", "en", TITLES[:2])["Bird 1"] == ()
    assert wikipedia.page_images("birds", "en", TITLES[:2])["Bird 1"] == ()
    asked = [request.path for request in wiki.requests if "media-list" in request.path]
    assert asked == ["/en/api/rest_v1/page/media-list/Bird_1"]


def test_a_file_is_kept_and_one_that_was_missing_may_have_come_into_being(wiki, wikipedia):
    assert wikipedia.kept_files("birds") == []
    wikipedia.files("more", "en", ["File:A.png"])
    facts = wikipedia.files("birds", "en", ["File:A.png", "File:B.png"])["File:A.png"]
    wiki.requests.clear()
    assert wikipedia.kept_files("birds") == [facts] and not wiki.requests
    assert wikipedia.files("birds", "en", ["File:A.png"])["File:A.png"] == facts
    assert [request.parameters["iiprop"] for request in wiki.requests] == ["sha1"]
    wiki.files["File:B.png"] = File(PICTURE)
    assert wikipedia.files("birds", "en", ["File:B.png"])["File:B.png"].width == 40


def test_shards_and_languages_are_kept_apart(wiki, wikipedia, tmp_path):
    wiki.languages["de"] = {"Bird 1": Page("Der Vogel.")}
    wikipedia.pages("birds", "en", ["Bird 1"])
    wikipedia.pages("birds", "de", ["Bird 1"])
    wikipedia.pages("more", "en", ["Bird 1"])
    assert len(in_full(wiki)) == 3
    kept = [line["key"] for line in lines(tmp_path / "birds.pages.jsonl")]
    assert kept == [["en", "Bird 1"], ["de", "Bird 1"]]
    assert wikipedia.pages("birds", "en", ["Bird 1"])["Bird 1"].extract == "Bird 1 flies."


def test_the_last_line_of_a_page_holds_and_is_the_only_one_in_the_end(wiki, wikipedia, tmp_path):
    for _ in range(3):
        wiki.languages["en"]["Bird 1"].edit()
        wikipedia.pages("birds", "en", ["Bird 1", "Bird 2"])
    wikipedia.page_images("birds", "en", ["Bird 1"])
    kept = {line["key"][1]: line["value"] for line in lines(tmp_path / "birds.pages.jsonl")}
    assert len(lines(tmp_path / "birds.pages.jsonl")) == len(kept) == 2
    assert kept["Bird 1"]["facts"]["revision"] == wiki.languages["en"]["Bird 1"].revision
    assert kept["Bird 1"]["images"] is not None and kept["Bird 2"]["images"] is None


def test_what_came_before_a_failure_is_kept(wiki, wikipedia, monkeypatch, tmp_path):
    """One batch of three fails for good, after the others; running again asks for that one alone."""
    monkeypatch.setattr(api_client, "TRIES", 2)
    path = tmp_path / "birds.pages.jsonl"
    wiki.fail(faults.until(lambda: n_lines(path) == 70, faults.status(500)), on="extracts.*Bird 50")
    wiki.fail(faults.status(500), on="extracts.*Bird 50")
    with pytest.raises(WikipediaError, match="no usable answer in 2 tries.*is kept"):
        wikipedia.pages("birds", "en", TITLES)
    wiki.requests.clear()
    assert len(wikipedia.pages("birds", "en", TITLES)) == 120
    assert in_full(wiki) == TITLES[50:100]


RUN = """
import sys
from pathlib import Path
from resources.wikipedia import Wikipedia
titles = [f"Bird {number}" for number in range(120)]
Wikipedia("me@example.org", api=sys.argv[1], folder=Path(sys.argv[2])).pages("birds", "en", titles)
"""


def test_a_killed_run_is_gone_on_with(wiki, wikipedia, tmp_path):
    """Killed with one batch kept and two under way: those two are asked for again."""
    path, killed = tmp_path / "birds.pages.jsonl", threading.Event()
    for first in (50, 100):
        wiki.fail(faults.until(killed.is_set), on=f"extracts.*'Bird {first}[|]")
    run = subprocess.Popen([sys.executable, "-c", RUN, wiki.api, str(tmp_path)], cwd=REPO_ROOT)
    while n_lines(path) < 50:
        assert run.poll() is None
        time.sleep(0.005)
    run.kill()
    assert run.wait() == -signal.SIGKILL
    killed.set()
    assert n_lines(path) == 50
    wiki.requests.clear()
    assert list(wikipedia.pages("birds", "en", TITLES)) == TITLES
    assert sorted(in_full(wiki)) == sorted(TITLES[50:])


@pytest.mark.parametrize("rest", [b'{"key": ["en", "Bi', b"\0\0\0\0", b"\0\0\n", b'{"key": 1}\n'])
def test_the_remains_of_a_last_line_are_dropped_and_written_over(wiki, wikipedia, tmp_path, rest):
    path = tmp_path / "birds.pages.jsonl"
    wikipedia.pages("birds", "en", TITLES[:2])
    whole = path.read_bytes()
    path.write_bytes(whole + rest)
    assert len(wikipedia.pages("birds", "en", TITLES[:2])) == 2
    assert path.read_bytes() == whole
    path.write_bytes(whole + rest)
    wikipedia.pages("birds", "en", TITLES[:3])
    assert [line["key"][1] for line in lines(path)] == TITLES[:3]


@pytest.mark.parametrize("damage", [b"{}", b"not JSON", b'{"key": ["en", "x"], "value": {"a": 1}}'])
def test_damage_elsewhere_is_said_and_nothing_is_touched(wiki, wikipedia, tmp_path, damage):
    path = tmp_path / "birds.pages.jsonl"
    wikipedia.pages("birds", "en", TITLES[:2])
    damaged = damage + b"\n" + path.read_bytes()
    path.write_bytes(damaged)
    with pytest.raises(WikipediaError, match="Line 1 of .*birds.pages.jsonl.*remove that line"):
        wikipedia.pages("birds", "en", TITLES[:2])
    assert path.read_bytes() == damaged


def test_two_runs_of_one_shard_do_not_fetch_twice(wiki, tmp_path):
    def fetch() -> int:
        wikipedia = Wikipedia("me@example.org", api=wiki.api, folder=tmp_path)
        return len(wikipedia.pages("birds", "en", TITLES))

    wiki.latency = 0.02
    with ThreadPoolExecutor(2) as runs:
        assert [run.result() for run in [runs.submit(fetch), runs.submit(fetch)]] == [120, 120]
    assert sorted(in_full(wiki)) == sorted(TITLES)
    assert len(lines(tmp_path / "birds.pages.jsonl")) == 120
