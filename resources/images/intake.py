"""From URLs to images in the store: fetched, checked, measured, kept, and remembered.

What belongs here: the order of those steps, side by side for many images. What does not: each step by
itself (`fetcher.py`, `methods/ingest/image_quality.py`, `methods/ingest/image_filters.py`, `store.py`,
`index.py`).
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace

from methods.ingest.image_check import ImageRejected
from methods.ingest.image_filters import ImageLimits, refuse
from methods.ingest.image_quality import ImageFacts, inspect
from resources.batched import batched
from resources.images.fetcher import Fetched, ImageFetcher
from resources.images.index import Entry, ImageIndex
from resources.images.store import ImageStore

CORES = os.cpu_count() or 1
AHEAD = 2 * CORES
"""Images that may wait for their check while others are fetched; each may be as large as allowed."""
RECORDED_AT_ONCE = 64
"""Images whose fetch a killed run may have to repeat: they are remembered in portions."""


@dataclass(frozen=True)
class Wanted:
    """An image as a row names it; `address` is where it is fetched, often its URL itself."""

    url: str
    mime_type: str | None
    address: str | None

    @property
    def declared_mime(self) -> str | None:
        """What the bytes must be; of a thumbnail the row says nothing."""
        return self.mime_type if self.address == self.url else None


Taken = ImageFacts | ImageRejected


class ImageIntake:
    """Takes images into the store; `limits` and `excluded` say which may not enter.

    What is fetched and is an image is stored and remembered even if it may not enter, so that another
    run, with other limits, need not fetch it again.
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
        self, wanted: Sequence[Wanted], carried: Iterable[tuple[str, bytes]] = ()
    ) -> Iterator[tuple[Wanted, Taken]]:
        """Each image once, as soon as it is done, with its facts or why it may not enter.

        `carried` are bytes that came with the rows, by URL: those come back without an address. The
        rest is fetched, except what was fetched before and is still stored.
        """
        missing = {image.url: image for image in wanted}
        # What comes along is a picture made of the original, whose type alone the row tells.
        arrived = (
            (replace(missing.pop(url), mime_type=None, address=None), data)
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

    def _fetched(self, missing: Mapping[str, Wanted]) -> Iterator[tuple[Wanted, Fetched]]:
        at: dict[str, list[Wanted]] = {}
        for image in missing.values():
            at.setdefault(image.address or image.url, []).append(image)
        for address, data in self._fetcher.fetch_each(list(at)):
            for image in at[address]:
                yield image, data

    def _checked(self, arrived: Iterable[tuple[Wanted, Fetched]]) -> Iterator[tuple[Wanted, Taken]]:
        """Check and store side by side, as many at a time as there are cores, in order."""
        with ThreadPoolExecutor(CORES) as pool:
            waiting: deque[tuple[Wanted, Future[Taken]]] = deque()
            for image, data in arrived:
                waiting.append((image, pool.submit(self._stored, image, data)))
                if len(waiting) > AHEAD:
                    done, future = waiting.popleft()
                    yield done, future.result()
            for done, future in waiting:
                yield done, future.result()

    def _stored(self, image: Wanted, data: Fetched) -> Taken:
        if isinstance(data, ImageRejected):
            return data
        try:
            facts = inspect(data, image.declared_mime)
            self._store.put(data)
        except ImageRejected as rejected:
            return rejected
        return facts

    def _judged(self, taken: Taken) -> Taken:
        if isinstance(taken, ImageRejected):
            return taken
        try:
            refuse(taken, self._limits, self._excluded)
        except ImageRejected as rejected:
            return rejected
        return taken

    def _known(self, images: Sequence[Wanted]) -> dict[str, ImageFacts]:
        """What was fetched before from where it would be fetched now, and is stored."""
        if self._fetcher.reads_a_folder:
            return {}
        entries = self._index.known([image.address for image in images if image.address])
        known = {}
        for image in images:
            facts = _facts_of(entries.get(image.address or ""))
            # What the row says of the type is looked at again, in the bytes.
            fits = facts and image.declared_mime in (None, facts.mime_type)
            if facts and fits and self._store.has(facts.image_id):
                known[image.url] = facts
        return known

    def _remember(self, portion: Sequence[tuple[Wanted, Taken]]) -> None:
        if not self._fetcher.reads_a_folder:
            self._index.record(
                [
                    (image.address, taken.image_id, asdict(taken))
                    for image, taken in portion
                    if isinstance(taken, ImageFacts) and image.address
                ]
            )


def _facts_of(entry: Entry | None) -> ImageFacts | None:
    """The facts that were recorded; None if they are those of another version of this program."""
    if entry is None or set(entry.facts) != {field.name for field in fields(ImageFacts)}:
        return None
    return ImageFacts(**entry.facts)
