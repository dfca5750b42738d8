"""Fetching many images: as they come, no more than is wanted, and no more than a host bears."""

import asyncio
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from methods.ingest.image_check import ImageRejected
from resources.files.home import REPO_ROOT
from resources.images import fetcher as image_source
from resources.images.bounded_buffer import BoundedBuffer
from resources.images.fetcher import CONCURRENCY, ImageFetcher
from resources.images.host_pace import HOST_CONNECTIONS
from resources.web import ssrf_guard as guarded_network
from tests.resources.images.upload_double import in_chunks, ok, picture

pytestmark = pytest.mark.slow


def fetcher(mirror: str | None = None, **options) -> ImageFetcher:
    return ImageFetcher(
        mirror, **{"timeout": 5.0, "backoff": 0.01, "allow_private": True} | options
    )


def eventually(what) -> bool:
    end = time.monotonic() + 5
    while not what() and time.monotonic() < end:
        time.sleep(0.01)
    return what()


def wait_until_still(uploads) -> int:
    """How many requests there were by the time that no more came."""
    n_requests = -1
    while n_requests != len(uploads.log):
        n_requests = len(uploads.log)
        time.sleep(0.15)
    return n_requests


def test_each_url_comes_once_with_its_own_bytes_also_within_a_running_event_loop(uploads):
    """A caller may be inside a loop of its own, as under Dagster's async assets."""
    urls = [uploads.serve(f"{number}.png", ok(picture(number))) for number in range(50)]

    async def fetch() -> list:
        return list(fetcher().fetch_each([*urls, *urls]))

    pairs = asyncio.run(fetch())

    assert len(pairs) == 50
    assert dict(pairs) == {url: picture(number) for number, url in enumerate(urls)}
    assert set(uploads.asked.values()) == {1}


def test_a_slow_caller_slows_the_fetching(uploads, monkeypatch):
    monkeypatch.setattr(image_source, "MAX_WAITING", 10)
    urls = [uploads.serve(f"{number}.png", ok()) for number in range(60)]

    with closing(fetcher().fetch_each(urls)) as fetched:
        for taken in range(1, 4):
            next(fetched)
            # One that the caller has, nine that wait; those taken before are used up.
            assert wait_until_still(uploads) == taken + 9
        assert len(list(fetched)) == 57


class WatchedHandover(BoundedBuffer):
    """Counts the bytes that have come and are not used up."""

    n_bytes = most = 0
    used: int | None = None

    def put(self, place, thing) -> None:
        self.n_bytes += len(thing[1])
        self.most = max(self.most, self.n_bytes)
        super().put(place, thing)

    async def take(self):
        self.n_bytes -= self.used or 0
        thing = await super().take()
        self.used = len(thing[1]) if thing else None
        return thing


def test_so_does_one_whose_images_are_large(uploads, monkeypatch):
    """Half a megabyte each, and two megabytes may wait: four of them."""
    watched: list[WatchedHandover] = []

    def new_handover() -> WatchedHandover:
        watched.append(WatchedHandover(32, 2_000_000))
        return watched[0]

    monkeypatch.setattr(image_source, "_new_buffer", new_handover)
    monkeypatch.setattr(image_source, "FIRST_ROOM", 100_000)
    large = bytes(500_000)
    urls = [uploads.serve(f"{number}.png", in_chunks(large)) for number in range(20)]

    with closing(fetcher(max_bytes=500_000).fetch_each(urls)) as fetched:
        next(fetched)
        wait_until_still(uploads)
        assert 1_000_000 <= watched[0].n_bytes <= 2_000_000
        assert all(body == large for _, body in fetched)
    assert watched[0].most <= 2_000_000
    # What found no room was asked for once more when there was some, and no more than that.
    assert max(uploads.asked.values()) <= 2


def test_an_image_larger_than_all_that_may_wait_is_fetched_all_the_same(uploads, monkeypatch):
    monkeypatch.setattr(image_source, "MAX_WAITING_BYTES", 1000)
    monkeypatch.setattr(image_source, "FIRST_ROOM", 100)
    urls = [uploads.serve(f"{number}.png", ok(bytes(2000))) for number in range(5)]
    assert set(dict(fetcher().fetch_each(urls)).values()) == {bytes(2000)}


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if "process_request" not in thread.name}


@pytest.mark.parametrize("how", ["close", "raise", "forget", "end"])
def test_who_leaves_early_leaves_nothing_behind(uploads, how):
    """No thread, no connection, no more requests; some are under way, and a host does not answer."""
    before = threads()
    urls = [uploads.serve(f"{number}.png", ok(after=0.02)) for number in range(200)]
    urls += [uploads.serve(f"h{number}.png", ok(after=60), host="localhost") for number in range(3)]
    fetched = fetcher().fetch_each(urls if how != "end" else urls[:20])
    next(fetched)
    assert "image-fetcher" in threads()
    assert eventually(lambda: uploads.connections > 1)

    if how == "close":
        fetched.close()
    elif how == "raise":
        with pytest.raises(ZeroDivisionError), closing(fetched):
            for number, _ in enumerate(fetched):
                1 / (2 - number)
    elif how == "forget":
        del fetched
    else:
        assert len(list(fetched)) == 19

    assert threads() == before
    # The server hears of it when it next looks at the connection, and of requests that were sent.
    assert eventually(lambda: uploads.connections <= (0 if how == "end" else 3))
    wait_until_still(uploads)
    assert len(uploads.log) < len(urls)


def test_a_program_that_ends_in_the_middle_ends(uploads):
    """Though nobody closed the iterator."""
    urls = [uploads.serve(f"{number}.png", ok()) for number in range(200)]
    script = """if True:
        import sys
        from resources.images.fetcher import ImageFetcher

        fetched = ImageFetcher(allow_private=True).fetch_each(sys.argv[1:])
        next(fetched)
        raise ZeroDivisionError
    """
    command = [sys.executable, "-c", script, *urls]
    ended = subprocess.run(command, cwd=REPO_ROOT, capture_output=True, text=True, timeout=20)
    assert ended.returncode == 1
    assert ended.stderr.count("Error") == 1, "and nothing else goes wrong"


def test_a_fault_of_the_fetcher_s_own_reaches_the_caller(uploads, monkeypatch):
    async def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(image_source.ImageRequests, "ask", broken)
    before = threads()
    with pytest.raises(ExceptionGroup):
        dict(fetcher().fetch_each([uploads.serve("a.png", ok())]))
    assert threads() == before


def test_eight_at_a_time_and_no_more(uploads, monkeypatch):
    """Four hosts would bear twelve."""
    assert (CONCURRENCY, HOST_CONNECTIONS) == (8, 3)

    async def loopback(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    monkeypatch.setattr(guarded_network, "_addresses", loopback)
    urls = [
        uploads.serve(f"{host}/{number}.png", ok(after=0.5), host=f"{host}.example")
        for host in "abcd"
        for number in range(3)
    ]
    fetched = dict(fetcher().fetch_each(urls)).values()
    assert not [each for each in fetched if isinstance(each, ImageRejected)]
    assert uploads.most[""] == 8
    assert max(uploads.most[f"{host}.example"] for host in "abcd") <= HOST_CONNECTIONS
