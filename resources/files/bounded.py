"""Read untrusted input up to a size: files, members of archives, bodies of HTTP responses.

This protects a run from pipes that never end, from devices and compressed files that fill the memory
(zip bombs), and from links that lead out of a folder.
"""

import errno
import hashlib
import io
import lzma
import math
import os
import stat
import zipfile
import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Mapping
from contextlib import aclosing, closing
from functools import cache
from pathlib import Path
from typing import IO, Any

MOST_BYTES = 1_000_000_000
"""The default limit in bytes for a file that is read whole."""
SMALL_UNPACKED, MOST_TIMES = 20_000_000, 100
"""Any compressed file may unpack to SMALL_UNPACKED bytes, and a larger one to MOST_TIMES its size.
Texts unpack to about five times their size."""
MOST_ROWS = 2_000_000
"""The most rows that are read of a table: a file of kilobytes may have millions of equal rows. A real
spreadsheet has at most 1,048,576."""


class BoundedReadError(OSError):
    """A file or body was not read; `reason` is missing, outside, irregular or oversized_bytes."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = self.strerror = detail


def oversized(n_bytes: int, most: int) -> BoundedReadError:
    """Make the error for a file that is too large.

    Args:
        n_bytes: The number of bytes that the file has at least.
        most: The number of bytes that are allowed.
    """
    return BoundedReadError(
        "oversized_bytes", f"the file has at least {n_bytes} bytes, more than the {most} allowed"
    )


def unpacked_limit(n_packed: int) -> int:
    """Return the most bytes that a packed file of `n_packed` bytes may unpack to."""
    return max(SMALL_UNPACKED, MOST_TIMES * n_packed)


def open_file(path: Path, folder: int | None = None) -> io.BufferedReader:
    """Open a regular file, or a link to one.

    Args:
        path: The file.
        folder: The descriptor of its folder, in which a link is not opened.

    Raises:
        BoundedReadError: It is a pipe, a device or a socket, which may have no end.
        OSError: It cannot be opened.
    """
    # A pipe without a writer would keep the caller waiting.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    number = os.open(path, flags if folder is None else flags | os.O_NOFOLLOW, dir_fd=folder)
    mode = os.fstat(number).st_mode
    if not stat.S_ISREG(mode):
        os.close(number)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise BoundedReadError("irregular", "the file is a pipe or a device, not a regular file")
    return io.BufferedReader(io.FileIO(number))


def open_text(path: Path, encoding: str = "utf-8", newline: str | None = None) -> io.TextIOWrapper:
    """Open a regular file as text. Raises as `open_file` does.

    Args:
        path: The file.
        encoding: Its encoding.
        newline: How line breaks are read, as in `open`.
    """
    return io.TextIOWrapper(open_file(path), encoding=encoding, newline=newline)


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a regular file of limited size.

    Args:
        path: The file.
        most: The largest number of bytes.

    Raises:
        BoundedReadError: The path is not a regular file, or the file is too large.
        OSError: The file cannot be read.
    """
    with open_file(path) as file:
        return _read_whole(file, most)


def _read_whole(file: io.BufferedReader, most: int) -> bytes:
    n_bytes = os.fstat(file.fileno()).st_size
    if n_bytes > most:
        raise oversized(n_bytes, most)
    return read(file, most)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a regular file of any size. Raises BoundedReadError, OSError."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_inside(folder: Path, path: Path, most: int) -> bytes:
    """Read a regular file inside a folder.

    Args:
        folder: The folder. Links may not lead out of it; the folder itself may be a link.
        path: The file.
        most: The largest size in bytes.

    Raises:
        BoundedReadError: The file is missing, outside the folder, not regular or too large.
    """
    try:
        with open_inside(folder, path) as file:
            return _read_whole(file, most)
    except BoundedReadError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BoundedReadError("missing", str(reason)) from None


def open_inside(folder: Path, path: Path) -> io.BufferedReader:
    """Open a regular file inside a folder. A link that replaces a part of its path meanwhile is not
    followed.

    Args:
        folder: The folder. Links may not lead out of it; the folder itself may be a link.
        path: The file.

    Raises:
        BoundedReadError: The file is a link out of the folder, or not regular.
        OSError: The file is missing, or was replaced by a link.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    place, root = path.resolve(strict=True), folder.resolve()
    if not place.is_relative_to(root):
        raise BoundedReadError("outside", f"the file is a link out of {folder}")
    number = os.open(root, flags)
    try:
        for part in place.parent.relative_to(root).parts:
            parent, number = number, os.open(part, flags, dir_fd=number)
            os.close(parent)
        return open_file(Path(place.name), number)
    finally:
        os.close(number)


def first_unreadable(folder: Path, files: Iterable[Path]) -> tuple[Path, str] | None:
    """Return the first file that is not a regular one inside the folder, and why; None if all are."""
    for file in files:
        try:
            open_inside(folder, file).close()
        except OSError as error:
            return file, error.strerror or str(error)
    return None


def read(file: IO[bytes], most: int) -> bytes:
    """Read an open file, or a member of an archive, to its end.

    Args:
        file: The open file.
        most: The most bytes.

    Raises:
        BoundedReadError: There are more than `most` bytes.
    """
    content = file.read(most + 1)
    if len(content) > most:
        raise oversized(len(content), most)
    return content


def read_member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Read a member of a zip file.

    Args:
        archive: The open archive.
        name: The name of the member.
        most: The most bytes, unpacked.

    Raises:
        BoundedReadError: There are more than `most` bytes, or 100 times as many as are packed.
        BadZipFile: The member is damaged, encrypted, or packed in a way that Python cannot unpack.
    """
    try:
        with archive.open(name) as file:
            return read(file, min(most, unpacked_limit(archive.getinfo(name).compress_size)))
    except (NotImplementedError, RuntimeError, lzma.LZMAError, zlib.error) as error:
        raise zipfile.BadZipFile(str(error)) from None


async def joined(parts: AsyncIterable[bytes], most: int) -> bytes:
    """Join the parts of a body.

    Args:
        parts: The parts.
        most: The most bytes of all parts together.

    Raises:
        BoundedReadError: There are more than `most` bytes.
    """
    body = io.BytesIO()
    async for part in parts:
        if body.tell() + len(part) > most:
            raise oversized(body.tell() + len(part), most)
        body.write(part)
    return body.getvalue()


def limit_body(
    response: Any, most: int, too_large: Callable[[], Exception], cut: float = math.inf
) -> None:
    """Let a response of an HTTP client raise an error when its body is read whole and is too large.

    Call it before the body is read. A body whose announced length is too large, or that is compressed
    more than once, is not read at all. A response that is read in parts is not limited.

    Args:
        response: A streamed response of httpx2.
        most: The most bytes of the body, both compressed and decompressed. A compressed body may also
            unpack to no more than `unpacked_limit` of its size.
        too_large: Makes the error.
        cut: The bytes after which the body ends without an error; the rest is not read.
    """

    def check(n_bytes: float) -> None:
        if n_bytes > most:
            raise too_large()

    # The client makes its responses itself and has no setting for their class.
    response.__class__ = _limited(response.__class__)
    response.extensions |= {_CHECK: check, _CUT: cut}


def is_packed_twice(headers: Mapping[str, str]) -> bool:
    """Whether a body is compressed several times: a few bytes may unpack to terabytes in between."""
    return "," in headers.get("content-encoding", "")


_CHECK = "vlm_loom_check"
"""The extension of a response that holds its check."""
_CUT = "vlm_loom_cut"
"""The extension of a response that holds the bytes after which its body ends."""


@cache
def _limited(kind: Any) -> Any:
    class Limited(kind):
        """A response that is checked while its whole body is read."""

        _read_whole = False

        def read(self) -> bytes:
            self._begin()
            content: bytes = super().read()
            return content

        async def aread(self) -> bytes:
            self._begin()
            content: bytes = await super().aread()
            return content

        def _begin(self) -> None:
            self._read_whole = True
            if is_packed_twice(self.headers):
                self.extensions[_CHECK](math.inf)
            length = self.headers.get("content-length", "")
            # Longer numbers are ignored: they are not real lengths, and Python refuses to
            # convert thousands of digits.
            if length.isdecimal() and len(length) < 20:
                self.extensions[_CHECK](int(length))

        async def aiter_raw(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
            async with aclosing(super().aiter_raw(chunk_size)) as parts:
                async for part in parts:
                    self._check(self.num_bytes_downloaded)
                    yield part

        async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
            n_bytes = 0
            async with aclosing(super().aiter_bytes(chunk_size)) as parts:
                async for part in parts:
                    n_bytes += len(part)
                    self._check_unpacked(n_bytes)
                    yield part
                    if self._is_enough(n_bytes):
                        break

        def iter_bytes(self, chunk_size: int | None = None) -> Generator[bytes, None, None]:
            n_bytes = 0
            with closing(super().iter_bytes(chunk_size)) as parts:
                for part in parts:
                    n_bytes += len(part)
                    self._check_unpacked(n_bytes)
                    yield part
                    if self._is_enough(n_bytes):
                        break

        def _check_unpacked(self, n_bytes: int) -> None:
            too_many = n_bytes > unpacked_limit(self.num_bytes_downloaded)
            self._check(math.inf if too_many else n_bytes)

        def _is_enough(self, n_bytes: int) -> bool:
            return bool(self._read_whole and n_bytes > self.extensions[_CUT])

        def _check(self, n_bytes: float) -> None:
            if self._read_whole:
                self.extensions[_CHECK](n_bytes)

    return Limited
