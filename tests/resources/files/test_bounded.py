"""What others have made is read up to a size: no pipe, no device, no link out of a folder."""

import asyncio
import gzip
import os
import zipfile
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


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "irregular"),
        (_device, "outside"),
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


@pytest.mark.parametrize("make", [os.mkfifo, _device])
def test_a_pipe_and_a_device_are_not_opened(tmp_path, make):
    make(tmp_path / "a")
    with pytest.raises(BoundedReadError, match="not a regular file"):
        open_file(tmp_path / "a")


def test_a_size_that_a_file_does_not_state_is_noticed_while_it_is_read():
    with pytest.raises(BoundedReadError, match="at least 11 bytes"):
        read_file(Path("/proc/self/status"), 10)


def test_a_member_that_unpacks_to_more_is_not_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(5_000_000))
    with zipfile.ZipFile(tmp_path / "a.zip") as archive, pytest.raises(BoundedReadError):
        read_member(archive, "a", 1_000_000)


class TooLarge(Exception):
    pass


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("announced", [False, True])
@pytest.mark.parametrize("waiting", [False, True])
def test_a_body_that_is_too_large_packed_or_unpacked_is_not_read_to_its_end(
    packed, announced, waiting
):
    body = bytes(3_000_000)
    content = gzip.compress(body) if packed else body
    headers = {"content-encoding": "gzip"} if packed else {}
    if announced:
        headers["content-length"] = str(len(content))
    parts = [content[start : start + 1000] for start in range(0, len(content), 1000)]
    taken = 0

    async def stream():
        nonlocal taken
        for part in parts:
            taken += 1
            yield part

    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers=headers, content=stream() if waiting else iter(parts))

    def asked(most: int) -> bytes:
        def limit(response: httpx2.Response) -> None:
            limit_body(response, most, TooLarge)

        async def limit_later(response: httpx2.Response) -> None:
            limit(response)

        async def ask() -> bytes:
            hooks, transport = {"response": [limit_later]}, httpx2.MockTransport(answer)
            async with httpx2.AsyncClient(transport=transport, event_hooks=hooks) as client:
                return (await client.get("https://example.org")).content

        if waiting:
            return asyncio.run(ask())
        hooks, transport = {"response": [limit]}, httpx2.MockTransport(answer)
        with httpx2.Client(transport=transport, event_hooks=hooks) as client:
            return client.get("https://example.org").content

    with pytest.raises(TooLarge):
        asked(1_000_000)
    assert taken < len(parts) or packed
    assert asked(3_000_000) == body
