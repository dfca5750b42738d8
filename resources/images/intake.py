"""Intake of images by URL: fetch, check, measure, store, and record in the index."""

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

import pyarrow as pa

from methods.batched import batched
from methods.ids import canonical_json
from methods.ingest.image_check import ImageRejected
from methods.ingest.image_filters import ImageLimits, reject_unwanted
from methods.ingest.image_quality import ImageFacts, measure_image
from methods.json_text import from_json
from resources.images.fetcher import ImageFetcher
from resources.images.host_pace import ClusterPace
from resources.images.index import FetchedImage, ImageIndex, ImageIndexEntry
from resources.images.store import FileState, ImageStore, open_images

CORES = os.cpu_count() or 1
AHEAD = 2
"""Fetched images that may wait for each checking thread. It is small because each
image may have the largest size."""
RECORDED_AT_ONCE = 64
"""Images that are recorded in one transaction. A killed run has to fetch at most this many again."""
MOST_REMEMBERED = 10_000
"""The most different images of which results are kept, to check equal images once."""


@dataclass(frozen=True)
class WantedImage:
    """An image that a row names; it is fetched from `address`, often its URL."""

    url: str
    address: str | None
    file_sha1: str | None = None
    """The SHA-1 that the wiki states for the file now; None if no wiki was asked."""
    fetched_from: str | None = None
    """The source after the fetch: its address, or that of its copy in a mirror."""


ImageResult = ImageFacts | ImageRejected
Arrived = bytes | ImageRejected
Key = TypeVar("Key")
OnWorkers = Callable[[pa.Table, Callable[[pa.Table], None]], object]
"""Runs `fetch_on_worker` on a cluster, for rows with a column `address`, and calls a function with each
block of results, in a separate thread. Does nothing if there are too few rows."""


def take_in(data: bytes, store: ImageStore) -> ImageFacts:
    """Check, measure and store an image.

    Args:
        data: The bytes of the image file.
        store: The image store.

    Raises:
        ImageRejected: The image cannot be used.
    """
    facts = measure_image(data)
    store.put(data)
    return facts


class ImageIntake:
    """Takes images into the store; `limits` and `excluded` define which are rejected.

    A valid image is stored and recorded even if the limits reject it, so that a run with other limits
    does not fetch it again. With `on_workers` other machines fetch, check and store missing images.
    """

    def __init__(
        self,
        fetcher: ImageFetcher,
        store: ImageStore,
        index: ImageIndex,
        limits: ImageLimits,
        excluded: Mapping[str, str],
        on_workers: OnWorkers | None = None,
    ) -> None:
        self._fetcher = fetcher
        self._store = store
        self._index = index
        self._limits = limits
        self._excluded = excluded
        self._on_workers = on_workers

    def take(
        self, wanted: Sequence[WantedImage], carried: Iterable[tuple[str, bytes]] = ()
    ) -> Iterator[tuple[WantedImage, ImageResult]]:
        """Take each image once, in the order of completion.

        Images are fetched unless the shard contains them or they are already stored.

        Args:
            wanted: The images.
            carried: Bytes of images in the shard, by URL; these images are returned without an address.

        Yields:
            Each image with its facts or the reason of its rejection.
        """
        missing = {image.url: image for image in wanted}
        arrived = (
            (replace(missing.pop(url), address=None), data)
            for url, data in carried
            if url in missing
        )
        for image, result in check_images(arrived, self._store, CORES):
            yield image, self._judged(result)
        for image, facts in self._stored_images(list(missing.values())):
            del missing[image.url]
            yield image, self._judged(facts)
        if self._on_workers is not None:
            for image, result in self._fetched_on(self._on_workers, missing):
                missing.pop(image.url, None)
                yield image, self._judged(result)
        arriving = check_images(self._fetched(missing), self._store, CORES)
        for portion in batched(arriving, RECORDED_AT_ONCE):
            self._remember(portion)
            for image, result in portion:
                yield image, self._judged(result)

    def _fetched(self, missing: Mapping[str, WantedImage]) -> Iterator[tuple[WantedImage, Arrived]]:
        at = _by_address(missing.values())
        for address, data in self._fetcher.fetch_each(list(at)):
            for image in at[address]:
                yield replace(image, fetched_from=self._fetcher.source(address)), data

    def _fetched_on(
        self, on_workers: OnWorkers, missing: Mapping[str, WantedImage]
    ) -> list[tuple[WantedImage, ImageResult]]:
        """Fetch images on workers. Each block of results is recorded as it arrives."""
        at = _by_address(missing.values())
        arrived: list[tuple[WantedImage, ImageResult]] = []

        def record(block: pa.Table) -> None:
            portion: list[tuple[WantedImage, ImageResult]] = []
            for row in block.to_pylist():
                address, result = row["address"], _taken_by_worker(row, self._store)
                # The block of an earlier run may have addresses that are no longer wanted.
                for image in at.get(address, [WantedImage(address, address)]):
                    source = self._fetcher.source(address)
                    portion.append((replace(image, fetched_from=source), result))
            self._remember(portion)
            arrived.extend((image, taken) for image, taken in portion if image.url in missing)

        on_workers(pa.table({"address": pa.array(list(at), pa.string())}), record)
        return arrived

    def _judged(self, result: ImageResult) -> ImageResult:
        if isinstance(result, ImageRejected):
            return result
        try:
            reject_unwanted(result, self._limits, self._excluded)
        except ImageRejected as rejected:
            return rejected
        return result

    def _stored_images(self, images: Sequence[WantedImage]) -> list[tuple[WantedImage, ImageFacts]]:
        """Find images that were fetched from the same address before and are still current."""
        if self._fetcher.reads_a_folder:
            return []
        entries = self._index.entries([image.address for image in images if image.address])
        ids = [entry.image_id for entry in entries.values()]
        self._store.whole.remember(before := self._index.verified(ids))
        current, refetched = [], []
        for image in images:
            entry = entries.get(image.address or "")
            if entry is None or not self._is_current(image, entry):
                continue
            fetched = replace(image, fetched_from=entry.fetched_from or image.address)
            facts = _facts_of(entry)
            if facts is None:
                facts = self._measured_again(entry.image_id)
                if facts:
                    refetched.append((fetched, facts))
            if facts:
                current.append((fetched, facts))
        self._remember(refetched)
        whole = self._store.whole.get(ids)
        self._index.record_verified(dict(whole.items() - before.items()))
        return current

    def _measured_again(self, image_id: str) -> ImageFacts | None:
        """Measure a stored image again; None if its file cannot be used."""
        try:
            return measure_image(self._store.read(image_id))
        except ImageRejected:
            return None

    def _is_current(self, image: WantedImage, entry: ImageIndexEntry) -> bool:
        """Tell whether the fetched file is still stored, and the wiki has no newer version."""
        if not self._store.has(entry.image_id):
            return False
        if image.file_sha1 in (None, entry.file_sha1):
            return True
        # Recorded by a version that stored no digests, or for a shard that did not ask a wiki.
        stored = image.address == image.url and entry.file_sha1 is None
        return stored and _sha1(self._store.read(entry.image_id)) == image.file_sha1

    def _remember(self, portion: Sequence[tuple[WantedImage, ImageResult]]) -> None:
        if not self._fetcher.reads_a_folder:
            fetched = [
                FetchedImage(
                    image.address,
                    taken.image_id,
                    asdict(taken),
                    image.fetched_from,
                    image.file_sha1,
                )
                for image, taken in portion
                if isinstance(taken, ImageFacts) and image.address
            ]
            self._index.record(fetched)
            self._index.record_verified(self._store.whole.get(row.image_id for row in fetched))


def _by_address(images: Iterable[WantedImage]) -> dict[str, list[WantedImage]]:
    at: dict[str, list[WantedImage]] = {}
    for image in images:
        at.setdefault(image.address or image.url, []).append(image)
    return at


def _sha1(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _facts_of(entry: ImageIndexEntry) -> ImageFacts | None:
    """Return the recorded facts; None if another version of this program recorded other facts."""
    if set(entry.facts) != {field.name for field in fields(ImageFacts)}:
        return None
    return ImageFacts(**entry.facts)


def check_images(
    arrived: Iterable[tuple[Key, Arrived]], store: ImageStore, n_threads: int
) -> Iterator[tuple[Key, ImageResult]]:
    """Check and store images in `n_threads` threads; results keep the order.

    Equal images are checked once: all records of a small file may have the same large image.
    """
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[tuple[Key, Future[ImageResult]]] = deque()
        checks: dict[bytes | None, Future[ImageResult]] = {}
        for key, data in arrived:
            digest = hashlib.sha256(data).digest() if isinstance(data, bytes) else None
            check = checks.get(digest)
            if check is None:
                check = pool.submit(_stored, data, store)
                if digest is not None:
                    if len(checks) >= MOST_REMEMBERED:
                        checks.clear()
                    checks[digest] = check
            waiting.append((key, check))
            if len(waiting) > AHEAD * n_threads:
                done, future = waiting.popleft()
                yield done, future.result()
        for done, future in waiting:
            yield done, future.result()


def _stored(data: Arrived, store: ImageStore) -> ImageResult:
    if isinstance(data, ImageRejected):
        return data
    try:
        return take_in(data, store)
    except ImageRejected as rejected:
        # The traceback would keep the bytes in memory.
        return ImageRejected(rejected.reason, rejected.detail)


# --- On a cluster --------------------------------------------------------------------------------


def fetch_on_worker(**fetcher: Any) -> Callable[[pa.Table], pa.Table]:
    """Make the function by which a cluster's worker fetches, checks and stores images.

    All workers share one pace of requests. Images are stored in the workspace or the bucket. `fetcher`
    has the values of `ImageFetcher.settings`. The function takes rows with a column `address`. It
    returns `facts` (JSON) with `mtime_ns` and `inode` of the file, or `reason` and `detail`.
    """
    store = open_images()
    at_one_pace = ImageFetcher(**fetcher, pace=ClusterPace(fetcher["backoff"]))

    def fetch(rows: pa.Table) -> pa.Table:
        arrived = at_one_pace.fetch_each(rows["address"].to_pylist())
        # A worker has one core.
        results = [
            _row(address, taken, store) for address, taken in check_images(arrived, store, 1)
        ]
        return pa.Table.from_pylist(results, _BY_WORKER)

    return fetch


_BY_WORKER = pa.schema(
    {
        "address": pa.string(),
        "facts": pa.string(),
        "mtime_ns": pa.int64(),
        "inode": pa.uint64(),
        "reason": pa.string(),
        "detail": pa.string(),
    }
)


def _row(address: str, result: ImageResult, store: ImageStore) -> dict[str, Any]:
    if isinstance(result, ImageRejected):
        return {"address": address, "reason": result.reason, "detail": result.detail}
    state = store.whole.get([result.image_id])[result.image_id]
    return {
        "address": address,
        "facts": canonical_json(asdict(result)),
        "mtime_ns": state.mtime_ns,
        "inode": state.inode,
    }


def _taken_by_worker(row: Mapping[str, Any], store: ImageStore) -> ImageResult:
    """Read a worker's result. The state of the stored file is remembered as verified."""
    if row["facts"] is None:
        return ImageRejected(row["reason"], row["detail"])
    facts = ImageFacts(**from_json(row["facts"]))
    state = FileState(facts.n_bytes, row["mtime_ns"], row["inode"])
    store.whole.remember({facts.image_id: state})
    return facts
