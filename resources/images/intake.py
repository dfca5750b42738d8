"""Intake of images by URL: fetch, check, measure, store, and record in the index.

What belongs here: the order of those steps, concurrently for many images. What does not: each step by
itself (`fetcher.py`, `methods/ingest/image_quality.py`, `methods/ingest/image_filters.py`, `store.py`,
`index.py`).
"""

import hashlib
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace

from methods.ingest.image_check import ImageRejected
from methods.ingest.image_filters import ImageLimits, reject_unwanted
from methods.ingest.image_quality import ImageFacts, measure_image
from resources.batched import batched
from resources.images.fetcher import ImageFetcher
from resources.images.index import Entry, Fetched, ImageIndex
from resources.images.store import ImageStore

CORES = os.cpu_count() or 1
AHEAD = 2 * CORES
"""Fetched images that may wait for their check; each may have the largest size allowed."""
RECORDED_AT_ONCE = 64
"""Images recorded in one transaction: a killed run may have to fetch so many again."""


@dataclass(frozen=True)
class WantedImage:
    """An image that a row names; it is fetched from `address`, often its URL."""

    url: str
    address: str | None
    file_sha1: str | None = None
    """SHA-1 of the original that a wiki gives of it now, None where no wiki was asked."""
    fetched_from: str | None = None
    """Where it was taken from, once it was: its address, or that of its copy in a mirror."""


ImageResult = ImageFacts | ImageRejected
Arrived = bytes | ImageRejected


def take_in(data: bytes, store: ImageStore) -> ImageFacts:
    """Check, measure and store an image's bytes. Raises ImageRejected."""
    facts = measure_image(data)
    store.put(data)
    return facts


class ImageIntake:
    """Takes images into the store; `limits` and `excluded` say which are rejected.

    A valid image is stored and recorded even if the limits reject it, so that a run with other limits
    need not fetch it again.
    """

    def __init__(
        self,
        fetcher: ImageFetcher,
        store: ImageStore,
        index: ImageIndex,
        limits: ImageLimits,
        excluded: Mapping[str, str],
    ) -> None:
        self._fetcher = fetcher
        self._store = store
        self._index = index
        self._limits = limits
        self._excluded = excluded

    def take(
        self, wanted: Sequence[WantedImage], carried: Iterable[tuple[str, bytes]] = ()
    ) -> Iterator[tuple[WantedImage, ImageResult]]:
        """Each image once, as soon as it is done, with its facts or why it is rejected.

        `carried` are image bytes that the shard contains, by URL; these images are returned without an
        address. The others are fetched unless they were fetched before and are still stored.
        """
        missing = {image.url: image for image in wanted}
        arrived = (
            (replace(missing.pop(url), address=None), data)
            for url, data in carried
            if url in missing
        )
        for image, taken in self._checked(arrived):
            yield image, self._judged(taken)
        for image, facts in self._known(list(missing.values())):
            del missing[image.url]
            yield image, self._judged(facts)
        for portion in batched(self._checked(self._fetched(missing)), RECORDED_AT_ONCE):
            self._remember(portion)
            for image, taken in portion:
                yield image, self._judged(taken)

    def _fetched(self, missing: Mapping[str, WantedImage]) -> Iterator[tuple[WantedImage, Arrived]]:
        at: dict[str, list[WantedImage]] = {}
        for image in missing.values():
            at.setdefault(image.address or image.url, []).append(image)
        for address, data in self._fetcher.fetch_each(list(at)):
            for image in at[address]:
                yield replace(image, fetched_from=self._fetcher.source(address)), data

    def _checked(
        self, arrived: Iterable[tuple[WantedImage, Arrived]]
    ) -> Iterator[tuple[WantedImage, ImageResult]]:
        """Check and store images in as many threads as there are cores; results keep the order."""
        with ThreadPoolExecutor(CORES) as pool:
            waiting: deque[tuple[WantedImage, Future[ImageResult]]] = deque()
            for image, data in arrived:
                waiting.append((image, pool.submit(self._stored, image, data)))
                if len(waiting) > AHEAD:
                    done, future = waiting.popleft()
                    yield done, future.result()
            for done, future in waiting:
                yield done, future.result()

    def _stored(self, image: WantedImage, data: Arrived) -> ImageResult:
        if isinstance(data, ImageRejected):
            return data
        try:
            return take_in(data, self._store)
        except ImageRejected as rejected:
            return rejected

    def _judged(self, taken: ImageResult) -> ImageResult:
        if isinstance(taken, ImageRejected):
            return taken
        try:
            reject_unwanted(taken, self._limits, self._excluded)
        except ImageRejected as rejected:
            return rejected
        return taken

    def _known(self, images: Sequence[WantedImage]) -> list[tuple[WantedImage, ImageFacts]]:
        """Images that were fetched from the same address before, and are still stored and current."""
        if self._fetcher.reads_a_folder:
            return []
        entries = self._index.known([image.address for image in images if image.address])
        ids = [entry.image_id for entry in entries.values()]
        self._store.whole.remember(before := self._index.verified(ids))
        known, anew = [], []
        for image in images:
            entry = entries.get(image.address or "")
            if entry is None or not self._is_current(image, entry):
                continue
            fetched = replace(image, fetched_from=entry.fetched_from or image.address)
            facts = _facts_of(entry)
            if facts is None:
                facts = self._measured_again(entry.image_id)
                if facts:
                    anew.append((fetched, facts))
            if facts:
                known.append((fetched, facts))
        self._remember(anew)
        whole = self._store.whole.of(ids)
        self._index.record_verified(dict(whole.items() - before.items()))
        return known

    def _measured_again(self, image_id: str) -> ImageFacts | None:
        """What is measured of a stored image today; None if its file is damaged."""
        try:
            return measure_image(self._store.read(image_id))
        except ImageRejected:
            return None

    def _is_current(self, image: WantedImage, entry: Entry) -> bool:
        """Whether the file is stored as it was fetched, and the wiki has no other one since."""
        if not self._store.has(entry.image_id):
            return False
        if image.file_sha1 in (None, entry.file_sha1):
            return True
        # Recorded before digests were, or for rows of a shard that asked no wiki.
        stored = image.address == image.url and entry.file_sha1 is None
        return stored and _sha1(self._store.read(entry.image_id)) == image.file_sha1

    def _remember(self, portion: Sequence[tuple[WantedImage, ImageResult]]) -> None:
        if not self._fetcher.reads_a_folder:
            fetched = [
                Fetched(
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
            self._index.record_verified(self._store.whole.of(row.image_id for row in fetched))


def _sha1(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _facts_of(entry: Entry) -> ImageFacts | None:
    """The recorded facts; None if another version of this program recorded other facts."""
    if set(entry.facts) != {field.name for field in fields(ImageFacts)}:
        return None
    return ImageFacts(**entry.facts)
