"""Intake of images by URL: fetch, check, measure, store, and record in the index.

What belongs here: the order of those steps, concurrently for many images. What does not: each step by
itself (`fetcher.py`, `methods/ingest/image_quality.py`, `methods/ingest/image_filters.py`, `store.py`,
`index.py`).
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace

from methods.ingest.image_check import ImageRejected
from methods.ingest.image_filters import ImageLimits, reject_unwanted
from methods.ingest.image_quality import ImageFacts, measure_image
from resources.batched import batched
from resources.images.fetcher import Fetched, ImageFetcher
from resources.images.index import Entry, ImageIndex
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


ImageResult = ImageFacts | ImageRejected


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
        for url, facts in self._known(list(missing.values())).items():
            yield missing.pop(url), self._judged(facts)
        for portion in batched(self._checked(self._fetched(missing)), RECORDED_AT_ONCE):
            self._remember(portion)
            for image, taken in portion:
                yield image, self._judged(taken)

    def _fetched(self, missing: Mapping[str, WantedImage]) -> Iterator[tuple[WantedImage, Fetched]]:
        at: dict[str, list[WantedImage]] = {}
        for image in missing.values():
            at.setdefault(image.address or image.url, []).append(image)
        for address, data in self._fetcher.fetch_each(list(at)):
            for image in at[address]:
                yield image, data

    def _checked(
        self, arrived: Iterable[tuple[WantedImage, Fetched]]
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

    def _stored(self, image: WantedImage, data: Fetched) -> ImageResult:
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

    def _known(self, images: Sequence[WantedImage]) -> dict[str, ImageFacts]:
        """Images that were fetched from the same address before and are still stored."""
        if self._fetcher.reads_a_folder:
            return {}
        entries = self._index.known([image.address for image in images if image.address])
        known, anew = {}, []
        for image in images:
            entry = entries.get(image.address or "")
            if entry is None or not self._store.has(entry.image_id):
                continue
            facts = _facts_of(entry)
            if facts is None:
                facts = self._measured_again(entry.image_id)
                if facts:
                    anew.append((image, facts))
            if facts:
                known[image.url] = facts
        self._remember(anew)
        return known

    def _measured_again(self, image_id: str) -> ImageFacts | None:
        """What is measured of a stored image today; None if its file is damaged."""
        try:
            return measure_image(self._store.read(image_id))
        except ImageRejected:
            return None

    def _remember(self, portion: Sequence[tuple[WantedImage, ImageResult]]) -> None:
        if not self._fetcher.reads_a_folder:
            self._index.record(
                [
                    (image.address, taken.image_id, asdict(taken))
                    for image, taken in portion
                    if isinstance(taken, ImageFacts) and image.address
                ]
            )


def _facts_of(entry: Entry) -> ImageFacts | None:
    """The recorded facts; None if another version of this program recorded other facts."""
    if set(entry.facts) != {field.name for field in fields(ImageFacts)}:
        return None
    return ImageFacts(**entry.facts)
