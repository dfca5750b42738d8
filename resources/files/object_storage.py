"""Object storage (an S3 bucket or a folder) for files that machines share: images,
releases, reports, the site.

The workspace has copies of these files and downloads missing ones. Without
`LOOM_FILES` nothing is shared.
"""

import hashlib
import io
import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from methods.errors import UserError
from methods.json_text import from_json
from resources.files.atomic import write_atomically
from resources.files.bounded import MOST_BYTES, file_hash, oversized
from resources.files.system_errors import ResourceExhausted

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore

VARIABLE = "LOOM_FILES"
SCHEME = "s3://"
_BUCKET = re.compile(r"[A-Za-z0-9._-]+")
ENDPOINT = "AWS_ENDPOINT_URL"
AT_ONCE = 16
"""Concurrent requests when a folder is uploaded or downloaded."""
TRANSFER_SECONDS = 600
"""A request to the bucket, with all of its bytes, may take this long: requests of an upload share a
link, which may be slow."""
_CLIENT_OPTIONS = (
    *("allow_http", "allow_invalid_certificates", "connect_timeout", "timeout", "user_agent"),
    *("proxy_url", "proxy_ca_certificate", "proxy_excludes"),
)
"""Options of the HTTP client that AWS_* variables set, such as AWS_ALLOW_HTTP."""
NO_BUCKET = "NoSuchBucket"
"""S3's error code for a missing bucket. The status 404 alone may also mean a missing object."""
FULL = re.compile(r"Insufficient Storage|XMinioStorageFull")
"""Found in the errors of a server without room for an object: the status 507, and MinIO's code."""
LISTING = ".files.json"
"""The object that lists a folder's files with their SHA-256. It is written after the files."""


class SharedFilesError(UserError):
    """The bucket cannot be used as configured; the message says what to do."""


class SharedFilesFull(SharedFilesError, ResourceExhausted):
    """The server of the bucket has no room for an object."""


class SharedFiles:
    """Objects under `s3://bucket/prefix`, or files in a folder, shared by any number of processes.

    Access keys, region and endpoint come from the usual AWS_* variables. Methods raise
    SharedFilesError if the bucket cannot be used, or an object is too large.
    """

    def __init__(self, address: str):
        self.address = address.rstrip("/")

    @property
    def _store(self) -> "ObjectStore":
        return _opened(self.address, os.getpid())

    def get(self, key: str, most: int = MOST_BYTES) -> bytes | None:
        """Download an object.

        Args:
            key: Its key.
            most: The most bytes of the object. A larger object is not read.

        Returns:
            Its bytes; None if there is no such object.
        """
        import obstore

        with self._explained(key):
            try:
                stored = obstore.get(self._store, key)
            except FileNotFoundError as error:
                if NO_BUCKET in str(error):
                    raise
                return None
            # Checked first: allocating more than the available memory would end the
            # process before a byte is read.
            if stored.meta["size"] > most:
                raise oversized(stored.meta["size"], most)
            data = io.BytesIO()
            for part in stored.stream():
                data.write(part)
                if data.tell() > most:
                    raise oversized(data.tell(), most)
            return data.getvalue()

    def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes or a file durably.

        Args:
            key: The key of the object.
            data: The bytes, or the path of a file.
        """
        import obstore

        with self._explained(key):
            obstore.put(self._store, key, data)

    def publish(self, name: str, folder: Path, *, adding: bool = False) -> int:
        """Upload a folder with a listing of its files.

        Unchanged files are not uploaded. Files that the folder no longer has are removed after the new
        listing is written, so that a listing never names a missing file. Hidden files are not uploaded.

        Args:
            name: The name under which the folder is published.
            folder: The folder.
            adding: Whether existing objects stay.

        Returns:
            The number of uploaded files.
        """
        import obstore

        before = self.listing(name)
        paths = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
        mine = {
            path.as_posix(): file_hash(folder / path)
            for path in paths
            if not any(part.startswith(".") for part in path.parts)
        }
        if adding:
            mine |= before
        changed = [path for path, digest in mine.items() if before.get(path) != digest]
        gone = [f"{name}/{path}" for path in before if path not in mine]
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(lambda path: self.put(f"{name}/{path}", folder / path), changed))
        if changed or gone:
            self.put(f"{name}/{LISTING}", json.dumps(mine).encode())
        if gone:
            with self._explained(name):
                obstore.delete(self._store, gone)
        return len(changed)

    def keys(self, name: str) -> list[str]:
        """List the keys of objects under `name/`, sorted, without it."""
        import obstore

        with self._explained(name):
            return sorted(
                entry["path"].removeprefix(f"{name}/")
                for some in obstore.list(self._store, f"{name}/")
                for entry in some
            )

    def is_folder_without(self, *names: str) -> bool:
        """Tell whether this is a folder with no file under any of the names, as the mount point of a
        folder that is not mounted. A bucket that is not reachable is reported at its first use.
        """
        if self.address.startswith(SCHEME):
            return False
        return not any(any(Path(self.address, name).glob("*")) for name in names)

    def listing(self, name: str) -> dict[str, str]:
        """Read the listing of a published folder: SHA-256 by file; empty if there is none."""
        data = self.get(f"{name}/{LISTING}")
        return {} if data is None else dict(from_json(data))

    def fetch(self, name: str, folder: Path) -> int:
        """Download a published folder.

        Other files of the local folder stay. An object whose bytes differ from the listing is skipped:
        its upload is not complete.

        Args:
            name: The name under which the folder was published.
            folder: The local folder.

        Returns:
            The number of downloaded files.
        """
        folder_path = folder.resolve()

        def fetch_file(path: str, digest: str) -> bool:
            target = folder / path
            if not target.resolve().is_relative_to(folder_path):
                raise SharedFilesError(
                    f"{self.address}/{name} lists {path}, which is outside of it: somebody else wrote "
                    f"there, so set {VARIABLE} to a place of your own."
                )
            if target.is_file() and file_hash(target) == digest:
                return False
            data = self.get(f"{name}/{path}")
            if data is None or hashlib.sha256(data).hexdigest() != digest:
                return False
            write_atomically(target, data)
            return True

        with ThreadPoolExecutor(AT_ONCE) as threads:
            return sum(threads.map(lambda each: fetch_file(*each), self.listing(name).items()))

    @contextmanager
    def _explained(self, key: str) -> Iterator[None]:
        from obstore.exceptions import BaseError, GenericError

        try:
            yield
        except (BaseError, OSError) as error:
            if NO_BUCKET in str(error):
                bucket = self.address.removeprefix(SCHEME).partition("/")[0]
                raise SharedFilesError(
                    f"There is no bucket '{bucket}' for {self.address}: create it, or correct "
                    f"{VARIABLE}."
                ) from error
            if FULL.search(str(error)):
                raise SharedFilesFull(full_message(self.address)) from error
            reason = str(error).partition("\n")[0][:200]
            raise SharedFilesError(
                f"{self.address}/{key} cannot be used ({reason}): check {VARIABLE}, the AWS_* "
                "variables and that the bucket's server answers, and run it again.",
                # GenericError means that the server does not answer. Refusals and missing
                # objects have other classes.
                passing=isinstance(error, GenericError),
            ) from error


def full_message(address: str) -> str:
    """Make the message for the server of a bucket that has no room for an object."""
    return (
        f"The storage server of {address} is full: make room on it and run again; what was stored "
        "is kept."
    )


@cache
def _opened(address: str, _process: int) -> "ObjectStore":
    """Open one client per process: a forked child must not reuse its parent's connections."""
    from obstore.store import LocalStore, S3Store

    if address.startswith(SCHEME):
        # The store ignores the environment's options if it is given any.
        options = {name: os.environ.get(f"AWS_{name.upper()}") for name in _CLIENT_OPTIONS}
        options["timeout"] = options["timeout"] or f"{TRANSFER_SECONDS}s"
        values = {name: value for name, value in options.items() if value}
        return S3Store.from_url(
            address,
            client_options=cast("ClientConfig", values),
            retry_config={"retry_timeout": timedelta(seconds=TRANSFER_SECONDS)},
        )
    return LocalStore(address, mkdir=True)


def shared_files() -> SharedFiles | None:
    """Return the bucket or folder of `LOOM_FILES`; None if it is not set. Raises SharedFilesError."""
    address = os.environ.get(VARIABLE, "").strip()
    if not address:
        return None
    bucket = address.removeprefix(SCHEME).partition("/")[0]
    on_s3 = address.startswith(SCHEME) and _BUCKET.fullmatch(bucket)
    if not on_s3 and not Path(address).is_absolute():
        raise SharedFilesError(
            f"{VARIABLE} is '{address}': set it to s3://bucket/prefix or to the whole path of a folder "
            "that all machines have, or unset it."
        )
    endpoint = os.environ.get(ENDPOINT)
    if on_s3 and endpoint and not endpoint.startswith(("http://", "https://")):
        raise SharedFilesError(
            f"{ENDPOINT} is '{endpoint}': set it to the address of the bucket's server with its "
            "scheme, as in http://s3:9000, or unset it for Amazon's."
        )
    return SharedFiles(address)
