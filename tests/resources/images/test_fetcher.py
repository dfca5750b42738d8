"""Fetching one image, from a mirror or the web: what comes back, and after how many requests.

The server is real, on the loopback address. As a mirror it is trusted; as the web it is reached with
`allow_private`.
"""

from pathlib import Path

import pytest

from methods.ingest.image_check import ImageRejected
from resources.images.fetcher import Fetched, ImageFetcher, ImageSourceError
from resources.web import ssrf_guard as guarded_network
from tests.resources.images.upload_double import (
    PICTURE,
    busy,
    cut_short,
    endless,
    ok,
    redirect,
    silence,
    status,
    trickle,
)

pytestmark = pytest.mark.slow

WEB = "https://upload.example.org/wit/"


def fetch(url: str, mirror: str | Path | None = None, **options) -> Fetched:
    quick = {"timeout": 5.0, "backoff": 0.01, "allow_private": mirror is None}
    [(asked, result)] = ImageFetcher(mirror, **quick | options).fetch_each([url])
    assert asked == url
    return result


def reason(result: Fetched) -> str:
    assert isinstance(result, ImageRejected)
    assert result.detail.endswith(".")
    return result.reason


# What a server answers


@pytest.mark.parametrize(
    ("answer", "expected", "n_requests"),
    [
        (status(404), "missing", 1),
        (status(403), "http_error", 1),
        (status(302), "http_error", 1),
        (status(503), "http_error", 3),
        (busy(), "rate_limited", 6),
        (cut_short(), "unreachable", 3),
        (silence, "unreachable", 3),
        (redirect("file:///etc/passwd"), "unreachable", 1),
        (redirect("//[x/a.png"), "unreachable", 1),
        (redirect("a.png"), "http_error", 4),
        (redirect("https://upload.wikimedia.org/a.png"), "no_contact", 1),
    ],
)
def test_each_failure_has_its_reason_and_its_number_of_requests(
    uploads, answer, expected, n_requests
):
    assert reason(fetch(uploads.serve("a.png", answer))) == expected
    assert uploads.asked == {"a.png": n_requests}


@pytest.mark.parametrize("answer", [status(503), busy(retry_after="soon"), cut_short()])
def test_what_may_pass_is_tried_again(uploads, answer):
    """And what a server calls its bytes means nothing."""
    assert fetch(uploads.serve("a.png", answer, answer, ok(mime="text/html"))) == PICTURE
    assert uploads.asked == {"a.png": 3}


def test_a_slow_answer_has_one_deadline_for_all_of_it(uploads):
    assert reason(fetch(uploads.serve("a.png", trickle()), timeout=0.15)) == "timeout"
    assert uploads.asked["a.png"] == 3
    assert fetch(uploads.serve("b.png", trickle(), ok()), timeout=0.3) == PICTURE


def test_a_file_over_the_limit_is_not_read_to_its_end(uploads):
    announced = uploads.serve("announced.png", ok(bytes(1_000_000)))
    assert reason(fetch(announced, max_bytes=999_999)) == "oversized_bytes"
    assert fetch(announced, max_bytes=1_000_000) == bytes(1_000_000)
    assert reason(fetch(uploads.serve("b.png", endless), max_bytes=99_999)) == "oversized_bytes"
    assert uploads.hung_up.wait(5)
    assert uploads.asked == {"announced.png": 2, "b.png": 1}


def test_a_redirect_is_followed_but_not_for_ever(uploads):
    last = uploads.serve("d.png", ok(), host="localhost")
    third = uploads.serve("c.png", redirect(last))
    second = uploads.serve("b.png", redirect("c.png?x=1#top"))
    first = uploads.serve("a.png", redirect("/b.png"))
    assert fetch(first) == fetch(second) == fetch(third) == PICTURE
    assert reason(fetch(uploads.serve("0.png", redirect("a.png")))) == "http_error"


@pytest.mark.parametrize(
    "url",
    ["", "nothing", "ftp://example.org/a.png", "//example.org/a.png", "http://", "http://[x/a.png"]
    + [f"http://8.8.8.8:{port}/a.png" for port in (99999, 0, -1)]
    + ["http://xn--/a.png", "http://\udcff/a.png", "http://example.org/\0.png"]
    + ["http://no-such-host.invalid/a.png", f"http://{'a' * 70}.invalid/a.png"],
)
def test_what_is_no_web_address_is_unreachable(url):
    assert reason(fetch(url)) == "unreachable"


# Who asks


def test_the_contact_is_in_the_user_agent(uploads):
    url = uploads.serve("a.png", ok())
    fetch(url)
    fetch(url, contact="")
    assert uploads.agents == {"vlm-loom/0.1"}
    fetch(url, contact=" mail@example.org, Zoë ")
    assert "vlm-loom/0.1 (mail@example.org, Zoë)" in {
        agent.encode("latin-1").decode() for agent in uploads.agents
    }
    # A name and password in the address do not matter, and no contact may be another header.
    assert fetch(url.replace("//", "//upload.wikimedia.org:secret@")) == PICTURE
    with pytest.raises(ImageSourceError, match=r"wikipedia\.contact"):
        ImageFetcher(contact="me\r\nCookie: a=b")


@pytest.mark.parametrize(
    ("host", "asked"),
    [
        ("upload.wikimedia.org", False),
        ("UPLOAD.Wikimedia.org.", False),
        ("de.wikipedia.org:8080", False),
        ("wikipedia.org", False),
        ("notwikimedia.org", True),
        ("upload.wikimedia.org.example.org", True),
    ],
)
def test_wikimedia_is_not_asked_without_a_contact(monkeypatch, host, asked):
    """No request, not even for the address; with a contact it is asked like anybody."""

    async def nowhere(host: str, port: int) -> list[str]:
        raise OSError("no network in this test")

    monkeypatch.setattr(guarded_network, "_addresses", nowhere)
    result = fetch(f"http://{host}/a.png", contact=None)
    assert reason(result) == ("unreachable" if asked else "no_contact")
    assert asked or "wikipedia.contact in corpus.yaml" in result.detail
    assert reason(fetch(f"http://{host}/a.png", contact="a@example.org")) == "unreachable"


# A mirror


def test_a_mirror_server_is_asked_for_the_name_alone(uploads):
    uploads.serve("good.png", ok())
    assert fetch(WEB + "a/b/good.png?width=100#top", uploads.base + "/") == PICTURE
    assert uploads.asked == {"good.png": 1}
    assert reason(fetch(WEB, uploads.base)) == "missing"


def test_a_mirrors_password_is_for_the_mirror_alone(uploads):
    elsewhere = uploads.serve("b.png", ok(), host="localhost")
    uploads.serve("a.png", redirect(elsewhere))
    mirror = uploads.base.replace("//", "//user:secret@")
    assert fetch(WEB + "a.png", mirror, allow_private=True) == PICTURE
    assert [each.authorization for each in uploads.log] == ["Basic dXNlcjpzZWNyZXQ=", None]


@pytest.mark.parametrize(
    ("mirror", "what"),
    [
        *(
            (f"http://{host}", "its host or its port")
            for host in ("", "a:99999/", "a:b@c:x", "[::1/")
        ),
        ("https:///images", "its host or its port"),
        *((f"http://a:b{mark}CRET@example.org/images", "is not a valid http") for mark in "/?#"),
        ("/no/such/folder", "make the folder"),
    ],
)
def test_a_mirror_that_cannot_be_one_is_said_at_once(mirror, what):
    with pytest.raises(ImageSourceError, match=what) as caught:
        ImageFetcher(mirror)
    assert "a:b" not in str(caught.value) and "CRET" not in str(caught.value)


TWO = [f"{WEB}en/Landmark.png", f"{WEB}commons/Landmark.png", f"{WEB}en/Landmark.png?v=2"]
"""Addresses of one file name: other paths, and another query."""


def test_a_name_that_several_addresses_have_is_the_image_of_none_of_them(tmp_path):
    (tmp_path / "Landmark.png").write_bytes(b"of whom?")
    fetcher = ImageFetcher(tmp_path).with_shared_names(["Landmark.png"])
    assert {reason(taken) for _, taken in fetcher.fetch_each(TWO)} == {"shared_name"}
    for url in TWO:
        file = tmp_path / url.removeprefix("https://")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(url.encode())
    assert dict(fetcher.fetch_each(TWO)) == {url: url.encode() for url in TWO}
    assert fetcher.source(TWO[0]) == f"{tmp_path.name}/upload.example.org/wit/en/Landmark.png"


def test_a_mirror_server_is_asked_for_the_path_where_a_name_is_shared(uploads):
    path = TWO[0].removeprefix("https://")
    uploads.serve("Landmark.png", ok())
    uploads.serve(path, ok())
    made = ImageFetcher(uploads.base, backoff=0.01).with_shared_names(["Landmark.png"])
    fetcher = ImageFetcher(**made.settings())
    taken = dict(fetcher.fetch_each(TWO))
    assert taken[TWO[0]] == PICTURE
    assert {reason(taken[url]) for url in TWO[1:]} == {"shared_name"}
    assert "Landmark.png" not in uploads.asked


def test_a_mirror_folder_gives_the_file_of_that_name(tmp_path):
    (tmp_path / "Owl (bird) é.png").write_bytes(PICTURE)
    urls = [WEB + "x/Owl_none.png", WEB + "x/Owl%20%28bird%29%20%C3%A9.png"]
    fetcher = ImageFetcher(str(tmp_path))
    results = dict(fetcher.fetch_each(urls))
    assert reason(results[urls[0]]) == "missing"
    assert results[urls[1]] == PICTURE


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((f"..{slash}secret.png", "missing") for slash in ("%2F", "%5C")),
        *((name, "missing") for name in ("..", "%2e%2e", "", "a%00b.png", "sub", "a" * 300, "%ff")),
        ("link.png", "outside"),
        ("large.png", "oversized_bytes"),
    ],
)
def test_no_name_leads_out_of_the_mirror_folder_or_to_a_file_over_the_limit(tmp_path, name, why):
    mirror = tmp_path / "mirror"
    (mirror / "sub").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(PICTURE)
    (mirror / "link.png").symlink_to("../secret.png")
    (mirror / "large.png").write_bytes(PICTURE + b"more")
    assert reason(fetch(WEB + name, mirror, max_bytes=len(PICTURE))) == why
    assert ImageFetcher(mirror).reads_a_folder
    assert not ImageFetcher("https://example.org").reads_a_folder


@pytest.mark.parametrize("mirror", ["https://ada:s3cret@example.org", "https://example.org?key=s3"])
def test_a_mirror_with_a_secret_is_not_told_to_other_machines(mirror):
    with pytest.raises(ImageSourceError, match="set runner of ingest.images to local") as refused:
        ImageFetcher(mirror).settings()
    assert "s3" not in str(refused.value)


@pytest.mark.parametrize(
    "query", ["ticket=S3", "a=1;token=S3", "token[]=S3", "S3", "exp=1~hmac=S3"]
)
def test_the_source_of_an_image_is_the_address_of_the_mirror_without_its_query(query):
    fetcher = ImageFetcher(f"https://ada:S3@example.org/images?{query}")
    assert fetcher.source(TWO[0]) == "https://example.org/images/Landmark.png"


@pytest.mark.parametrize("mirror", [None, "https://example.org/images"])
def test_settings_make_the_same_fetcher(mirror):
    given = {"mirror": mirror, "contact": "ada@example.org", "timeout": 3.0}
    settings = ImageFetcher(**given).settings()
    assert given.items() <= settings.items()
    assert ImageFetcher(**settings).settings() == settings
