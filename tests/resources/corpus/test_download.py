"""Downloading a shard: whatever breaks off, the file is whole in the end and nothing comes twice."""

import random
import shutil
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpcore2
import pytest

from resources.corpus import download as module
from resources.corpus.download import DownloadError, download
from resources.files.system_errors import exhaustion_message
from resources.web import ssrf_guard
from tests.doubles.file_size import files_of_at_most
from tests.doubles.serving import serving
from tests.resources.corpus.storage_double import StorageDouble

pytestmark = pytest.mark.slow

DATA = random.Random(0).randbytes(3_000_000)
OTHER = random.Random(1).randbytes(2_500_000)
EQUALLY_LONG = random.Random(2).randbytes(len(DATA))


@pytest.fixture
def storage():
    with serving(StorageDouble()) as storage:
        yield storage


@pytest.fixture
def shard(storage):
    return storage.put("wit/shard.tsv.gz", DATA)


@pytest.fixture
def target(tmp_path) -> Path:
    return tmp_path / "not" / "there" / "shard.tsv.gz"


def fetch(shard, target: Path, **options) -> bytes:
    """Download, quickly; the bytes that are there, and nothing unfinished beside them."""
    assert download(shard.url, target, **{"backoff": 0.01, "timeout": 5.0} | options) == target
    names = {path.name for path in target.parent.iterdir()}
    assert names == {target.name, f"{target.name}.json", f"{target.name}.lock"}
    return target.read_bytes()


def ranges(storage) -> list[str | None]:
    return [served.range for served in storage.log]


def error_of(shard, target: Path, **options) -> str:
    with pytest.raises(DownloadError) as caught:
        download(shard.url, target, **{"backoff": 0.001, "timeout": 5.0} | options)
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message
    return message


# The whole file, once


@pytest.mark.parametrize("encoding", [None, "gzip"])
def test_a_file_is_downloaded_as_it_is(storage, shard, target, encoding):
    """Progress is told about every mebibyte and at the end. Some servers call a .gz file gzip-encoded
    text; unpacked it would be another file."""
    shard.encoding = encoding
    told: list[tuple[int, int | None]] = []
    assert fetch(shard, target, on_progress=lambda *numbers: told.append(numbers)) == DATA
    assert ranges(storage) == [None]
    assert storage.log[0].accept_encoding == "identity"
    assert told[-1] == (3_000_000, 3_000_000)
    assert [done >> 20 for done, _ in told[:-1]] == [1, 2]


def test_what_is_there_and_still_the_same_is_kept(storage, shard, target):
    fetch(shard, target)
    before = target.stat()
    assert fetch(shard, target) == DATA
    assert storage.log[1].if_none_match == shard.etag
    assert storage.log[1].if_modified_since == shard.last_modified
    assert (target.stat().st_ino, target.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    shard.replace(OTHER)
    assert fetch(shard, target) == OTHER
    assert [served.status for served in storage.log] == [200, 304, 200]


@pytest.mark.parametrize(
    "damage",
    [
        lambda target, facts: target.write_bytes(DATA[:-1]),
        lambda target, facts: target.unlink(),
        lambda target, facts: facts.unlink(),
        lambda target, facts: facts.write_text('{"url": 1}'),
    ],
    ids=["cut", "gone", "facts gone", "facts broken"],
)
def test_what_is_no_longer_as_it_was_downloaded_is_downloaded_again(storage, shard, target, damage):
    fetch(shard, target)
    damage(target, target.with_name(target.name + ".json"))
    assert fetch(shard, target) == shard.data
    assert [served.status for served in storage.log] == [200, 200]


def test_where_a_redirect_leads_may_not_be_on_a_private_network(storage, shard, target):
    moved = storage.put("wit/shard.tsv.gz-moved", b"")
    moved.statuses, moved.location = [302], "http://10.0.0.1/shard.tsv.gz"

    message = error_of(moved, target)

    assert "leads to 10.0.0.1, which is on a private or local network: give the address" in message
    assert len(storage.log) == 1 and not target.exists()


def test_an_address_that_is_not_valid_is_one_sentence_without_its_password(storage, target):
    moved = storage.put("wit/shard.tsv.gz-moved", b"")
    moved.statuses, moved.location = [302], f"http://{'a' * 64}.example/shard.tsv.gz"
    shown, sentence = moved.url, "(the address, or one that it redirects to, is not valid): check"
    assert error_of(moved, target).startswith(f"{shown} cannot be downloaded {sentence}")
    moved.url = shown.replace("http://", "http://ada:s3/cret@")
    assert error_of(moved, target).startswith(f"{shown} cannot be downloaded {sentence}")


def test_a_name_that_resolves_anew_to_a_private_address_is_not_connected_to(
    storage, shard, target, monkeypatch
):
    """Each connection goes to an address that was looked at for it."""
    found, connected = iter(["192.0.2.1", "127.0.0.1"]), []

    def resolve(host: str, port: int, *options: object, **named: object) -> list[tuple]:
        if host != "rebound.example":
            return real_resolve(host, port, *options, **named)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(found), port))]

    def connect(self, host: str, *rest: object):
        connected.append(host)
        return real_connect(self, "127.0.0.1", *rest)

    real_resolve, real_connect = socket.getaddrinfo, httpcore2.SyncBackend.connect_tcp
    monkeypatch.setattr(ssrf_guard.socket, "getaddrinfo", resolve)
    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
    monkeypatch.setattr(ssrf_guard, "is_public", lambda text: text == "192.0.2.1")
    moved = storage.put("wit/shard.tsv.gz-moved", b"")
    moved.statuses = [302, 302]
    moved.location = shard.url.replace("127.0.0.1", "rebound.example")

    assert fetch(moved, target) == DATA
    assert "leads to rebound.example" in error_of(moved, target)
    assert connected == ["127.0.0.1", "192.0.2.1", "127.0.0.1"]


def test_a_proxy_of_the_environment_is_used(shard, target, monkeypatch):
    """It connects where the address says, and decides itself where it may."""
    with serving(StorageDouble()) as proxy:
        # A proxy is sent the whole address in the place of the path.
        seen = proxy.files["http://owls.example/shard.tsv.gz"] = shard
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.server_port}")
        seen.url = "http://owls.example/shard.tsv.gz"
        assert fetch(seen, target) == DATA


# What breaks off


def test_it_goes_on_from_where_it_broke_off(storage, shard, target):
    shard.drops = [1_000_000, 1_500_000]
    assert fetch(shard, target) == DATA
    assert ranges(storage) == [None, "bytes=1000000-", "bytes=2500000-"]
    assert {served.if_range for served in storage.log[1:]} == {shard.etag}
    assert sum(served.n_bytes for served in storage.log) == len(DATA)


@pytest.mark.parametrize(("ranges", "drop"), [(False, 2_000_000), (False, 0), (True, 100)])
def test_a_server_that_always_breaks_off_at_the_same_place_or_at_once_is_given_up(
    storage, shard, target, ranges, drop
):
    shard.ranges = ranges
    shard.drops = [drop] * 100
    assert "try again later" in error_of(shard, target)
    assert len(storage.log) == module.TRIES
    shard.drops.clear()
    assert fetch(shard, target) == DATA


@pytest.mark.parametrize("length", ["3000001", "99999999"])
def test_a_body_shorter_than_announced_is_no_file(storage, shard, target, length):
    shard.length = length
    error_of(shard, target)
    assert not target.exists()


def test_a_body_that_only_the_closed_connection_ends_is_not_taken_for_whole_within_a_line(
    storage, target
):
    """Where a line ends, too, nobody knows whether it is whole: it is told, and not kept next time."""
    target = target.with_name("shard.tsv")
    shard = storage.put("shard.tsv", b"one\ttwo\nthree\tfour\n")
    shard.until_close = True
    shard.drops = [12]
    warnings: list[str] = []
    assert fetch(shard, target, warn=warnings.append) == shard.data
    assert ranges(storage) == [None, None]
    assert len(warnings) == 1 and "its 19 bytes may not be the whole file" in warnings[0]

    shard.drops = [12] * module.TRIES
    assert "closed after 12 bytes in a line without a line feed" in error_of(shard, target)
    assert fetch(shard, target) == shard.data
    assert storage.log[-1].if_none_match is None


@pytest.mark.parametrize("status", [429, 500])
def test_a_server_that_is_busy_is_asked_again(storage, shard, target, status):
    shard.statuses = [status] * (module.TRIES - 1)
    assert fetch(shard, target) == DATA
    assert len(storage.log) == module.TRIES

    shard.statuses = [status] * module.TRIES
    assert f"(status {status}): check the address" in error_of(shard, target)
    assert target.read_bytes() == DATA


def test_a_server_that_says_nothing_more_is_asked_again(storage, shard, target):
    """It stops after a megabyte, and a fifth of a second is all it is waited for."""
    shard.stall = 1 << 20

    def go_on() -> None:
        while len(storage.log) < 2:
            time.sleep(0.01)
        shard.stall = 0

    thread = threading.Thread(target=go_on)
    thread.start()
    assert fetch(shard, target, timeout=0.2) == DATA
    thread.join()
    assert ranges(storage) == [None, f"bytes={1 << 20}-"]


# What changes meanwhile


@pytest.mark.parametrize(
    ("drop", "honours_if_range", "other"),
    [
        (1_500_000, True, OTHER),
        (1_500_000, False, OTHER),
        (2_900_000, False, OTHER),
        (1_500_000, False, EQUALLY_LONG),
    ],
    ids=["whole", "another length", "beyond the end", "another tag"],
)
def test_what_changes_midway_is_begun_anew(storage, shard, target, drop, honours_if_range, other):
    """Never the beginning of one and the end of another, even where a server mixes them up; nor
    from a place that the new one does not have."""
    shard.honours_if_range = honours_if_range
    shard.drops = [drop]

    def change(done: int, total: int | None) -> None:
        if shard.data == DATA:
            shard.replace(other)

    assert fetch(shard, target, on_progress=change) == other
    statuses = [served.status for served in storage.log]
    assert (statuses == [200, 416, 200]) == (drop > len(other))


def test_what_changes_all_the_time_is_given_up(storage, shard, target):
    shard.drops = [1_500_000] * 1000

    def change(done: int, total: int | None) -> None:
        shard.replace(random.Random(len(storage.log)).randbytes(2_000_000 + len(storage.log)))

    assert "check the address" in error_of(shard, target, on_progress=change)
    assert len(storage.log) < 3 * module.TRIES


@pytest.mark.parametrize(
    ("etag", "last_modified", "if_range"),
    [
        ('W/"1"', "Sun, 13 Sep 2020 12:26:40 GMT", "Sun, 13 Sep 2020 12:26:40 GMT"),
        ('W/"1"', None, None),
        (None, None, None),
    ],
)
def test_without_a_strong_name_for_the_content_nothing_is_gone_on_with(
    storage, shard, target, etag, last_modified, if_range
):
    shard.etag, shard.last_modified = etag, last_modified
    shard.drops = [1_000_000]
    assert fetch(shard, target) == DATA
    assert storage.log[1].if_range == if_range
    assert storage.log[1].status == (206 if if_range else 200)


@pytest.mark.parametrize("changed", [False, True])
def test_a_process_killed_just_before_the_end_had_it_all(storage, shard, target, changed):
    """All bytes were there, only the name was not: the server is asked whether they still hold."""
    fetch(shard, target)
    target.rename(target.with_name(target.name + ".part"))
    facts = target.with_name(target.name + ".json")
    facts.rename(target.with_name(target.name + ".part.json"))
    if changed:
        shard.replace(OTHER)

    assert fetch(shard, target) == shard.data
    assert [served.status for served in storage.log] == [200, 200 if changed else 304]


def test_what_another_address_gave_is_not_kept_and_a_part_of_it_is_not_gone_on_with(
    storage, shard, target
):
    shard.drops = [1_000_000] * 9
    shard.ranges = False
    error_of(shard, target)
    other = storage.put("mirror/shard.tsv.gz", OTHER)
    other.etag = shard.etag
    assert fetch(other, target) == OTHER
    assert storage.log[-1].range is None
    shard.drops.clear()
    assert fetch(shard, target) == DATA
    assert storage.log[-1].status == 200


# What cannot be downloaded


@pytest.mark.parametrize(
    ("status", "message"),
    [
        *((status, f"(status {status}): use an address that is open") for status in (401, 403)),
        (404, "(status 404): check the address"),
        (200, "log in to the network"),  # a web page is no shard
    ],
)
def test_what_is_refused_is_said_at_once(storage, shard, target, status, message):
    shard.statuses, shard.mime = [status], "text/html; charset=utf-8"
    assert message in error_of(shard, target)
    assert len(storage.log) == 1 and not target.exists()


@pytest.mark.parametrize("url", ["nothing", "ftp://example.org/a", "http:///a"])
def test_what_is_no_address_is_said_at_once(target, url):
    with pytest.raises(DownloadError, match="check the address"):
        download(url, target, backoff=5)


def test_an_earlier_copy_outlives_every_failure(storage, shard, target):
    fetch(shard, target)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nowhere = closed.getsockname()[1]
    shard.replace(OTHER)
    shard.drops = [1_000_000] + [0] * 20
    error_of(shard, target)
    assert target.read_bytes() == DATA
    with pytest.raises(DownloadError, match="check the address and the network"):
        download(f"http://127.0.0.1:{nowhere}/shard.tsv.gz", target, backoff=0.001)
    assert target.read_bytes() == DATA
    shard.drops.clear()
    assert fetch(shard, target) == OTHER


@pytest.mark.parametrize("length", [None, ""])
def test_a_download_leaves_a_reserve_of_the_disk_free(shard, target, monkeypatch, length):
    """A body of known size is refused before the first byte, any other when the reserve is met."""
    shard.length = length
    usage = shutil.disk_usage(target.parents[2])

    def disk_usage(folder: Path):
        taken = sum(path.stat().st_size for path in folder.glob("*.part"))
        return usage._replace(free=module.RESERVE + 1_000_000 - taken)

    monkeypatch.setattr(module.shutil, "disk_usage", disk_usage)
    message = error_of(shard, target)
    assert "500,000,000): make room there, or check the address and delete that file." in message
    part = target.with_name(f"{target.name}.part")
    n_bytes = part.stat().st_size if part.exists() else 0
    assert f"({part} has {n_bytes:,} " in message
    assert (1_000_000 <= n_bytes < 3_000_000) if length == "" else n_bytes == 0


def test_a_download_that_hardly_moves_is_given_up_and_tells_its_progress(
    shard, target, monkeypatch
):
    shard.pause = 0.02
    monkeypatch.setattr(module, "SPEED_WINDOW", 0.1)
    monkeypatch.setattr(module, "REPORT_EVERY", 0.01)
    monkeypatch.setattr(module, "LEAST_SPEED", 100_000_000)
    told: list[int] = []
    message = error_of(shard, target, on_progress=lambda n_bytes, total: told.append(n_bytes))
    assert "fewer than 100,000,000): check the address and the network" in message
    assert 0 < told[0] < module.CHUNK, "before the first mebibyte"
    assert target.with_name(f"{target.name}.part").exists(), "it can be resumed"


def test_a_download_that_fills_the_disk_names_its_file_and_is_gone_on_with(storage, shard, target):
    full = pytest.raises(DownloadError, match="File too large.*make room")
    with files_of_at_most(1_000_000), full as caught:
        fetch(shard, target)
    assert f"{target}.part" in str(exhaustion_message(caught.value))
    assert fetch(shard, target) == DATA
    assert [served.status for served in storage.log] == [200, 206]


def test_of_two_that_want_a_file_at_once_one_downloads(storage, shard, target):
    shard.pause = 0.002
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda _: fetch(shard, target), range(2))) == [DATA, DATA]
    assert [served.status for served in storage.log] == [200, 304]
