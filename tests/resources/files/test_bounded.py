"""What others have made is read up to a size: no pipe, no device, no link out of a folder."""

import asyncio
import gzip
import os
import zipfile
from collections.abc import AsyncIterator, Iterator
from operator import length_hint
from pathlib import Path

import httpx2
import pytest

from resources.files.bounded import (
    BoundedReadError,
    limit_body,
    open_file,
    read_file,
    read_inside,
    read_member,
)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "irregular"),
        (lambda path: path.symlink_to("/dev/zero"), "outside"),
        (lambda path: path.symlink_to("../secret"), "outside"),
        (lambda path: path.write_bytes(bytes(101)), "oversized_bytes"),
        (Path.mkdir, "missing"),
        (lambda _: None, "missing"),
    ],
)
def test_only_a_regular_file_inside_a_folder_is_read(tmp_path, make, reason):
    folder = tmp_path / "images"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    make(folder / "a.png")
    with pytest.raises(BoundedReadError) as refused:
        read_inside(folder, folder / "a.png", 100)
    assert refused.value.reason == reason


def test_a_file_inside_is_read_through_links_that_stay_there(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "images").symlink_to("real")
    (tmp_path / "real" / "b.png").write_bytes(b"b")
    (tmp_path / "real" / "a.png").symlink_to("b.png")
    assert read_inside(tmp_path / "images", tmp_path / "images" / "a.png", 1) == b"b"


def test_a_pipe_and_a_device_are_not_opened_and_no_more_is_read_than_a_size(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(BoundedReadError, match="not a regular file"):
            open_file(path)
    # A file that does not state its size, and a member that unpacks to more.
    with pytest.raises(BoundedReadError, match="at least 11 bytes"):
        read_file(Path("/proc/self/status"), 10)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(5_000_000))
    with zipfile.ZipFile(tmp_path / "a.zip") as archive, pytest.raises(BoundedReadError):
        read_member(archive, "a", 1_000_000)


class TooLarge(Exception):
    pass


PACKED = {"content-encoding": "gzip"}


def body_of(parts: Iterator[bytes], most: int, waiting: bool, headers: dict[str, str]) -> bytes:
    """The body of a response that is read up to a size; its parts are there or waited for."""

    async def later() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    async def read() -> bytes:
        response = httpx2.Response(200, headers=headers, content=later() if waiting else parts)
        limit_body(response, most, TooLarge)
        return await response.aread() if waiting else response.read()

    return asyncio.run(read())


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("announced", [False, True])
@pytest.mark.parametrize("waiting", [False, True])
def test_a_body_that_is_too_large_packed_or_unpacked_is_not_read_to_its_end(
    packed, announced, waiting
):
    body = bytes(3_000_000)
    content = gzip.compress(body) if packed else body
    parts = [content[start : start + 1000] for start in range(0, len(content), 1000)]
    length = {"content-length": str(len(content))} if announced else {}
    headers, left = length | (PACKED if packed else {}), iter(parts)
    with pytest.raises(TooLarge):
        body_of(left, 1_000_000, waiting, headers)
    assert packed or length_hint(left) > 1_000
    assert body_of(iter(parts), 3_000_000, waiting, headers) == body


@pytest.mark.parametrize("waiting", [False, True])
def test_a_body_that_unpacks_to_over_100_times_its_size_is_not_read_to_its_end(waiting):
    """As a small file may, a small body may unpack to 20 MB."""
    small, large = (iter([gzip.compress(bytes(size))]) for size in (19_000_000, 40_000_000))
    assert len(body_of(small, 1_000_000_000, waiting, PACKED)) == 19_000_000
    with pytest.raises(TooLarge):
        body_of(large, 1_000_000_000, waiting, PACKED)


def test_a_body_that_is_compressed_several_times_is_not_unpacked():
    twice = iter([gzip.compress(gzip.compress(bytes(1000)))])
    with pytest.raises(TooLarge):
        body_of(twice, 1_000_000, False, {"content-encoding": "gzip, gzip"})
