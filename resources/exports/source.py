"""Read a release for an export: items in batches with their images, never the whole release."""

import base64
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from methods.errors import UserError
from methods.exports.rows import ExportedItem
from methods.exports.rows import exported_of as item_of
from methods.exports.stacking import TokenBudget
from methods.ingest.image_check import EXTENSION_OF
from methods.licences.combination import SetLicence, licence_of_set
from methods.licences.terms import Term, reason
from methods.release import held_out
from methods.release_card import card_of, edition_of, exported_card
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

MIME_OF = {f".{ending}": mime for mime, ending in EXTENSION_OF.items()}
"""The MIME type of an image by the extension of its file."""
BATCH = 1_000
"""Items that are read at once. A dialogue has about 10 KB of text."""

OnProgress = Callable[[int, int], None]
"""Called with the number of finished items and of all items."""


class ExportError(UserError):
    """A release cannot be exported as requested; the message says what to do."""


class CannotHoldError(ExportError):
    """A format cannot express a release; another format can."""


@dataclass
class Totals:
    """The numbers of exported rows."""

    items: int = 0
    turns: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """The number of items that were left out, by reason."""
    pictures: set[str] = field(default_factory=set)


class ExportSource:
    """The release to export.

    Attributes:
        licence: The licence of all exported items.
        left_out: Licence terms whose items are left out.
        stated: The licence of the texts, and of images without a known licence.
        budget: The token limit of a training record if dialogues are stacked.

    Raises:
        ExportError: Licences contradict each other.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        store: ImageStore,
        release: Mapping[str, Any],
        *,
        left_out: Collection[Term] = (),
        stated: str = "",
        budget: TokenBudget | None = None,
        progress: OnProgress = lambda done, total: None,
    ) -> None:
        self.card = exported_card(card_of(release))
        self.release_id: str = self.card["release_id"]
        self.edition = edition_of(self.card)
        self.with_answers = not held_out(self.edition)
        self.left_out, self.stated = tuple(sorted(left_out)), stated
        self.budget = budget
        self.totals = Totals()
        self.on_batch: Callable[[list[ExportedItem]], None] = lambda items: None
        self.require: Callable[[ExportedItem], None] = lambda item: None
        self._warehouse, self._store, self._progress = warehouse, store, progress
        self._where = {"release_id": self.release_id}
        self.beside: tuple[ExportSource, ...] = ()
        """Other releases that are exported into the same folder."""
        self._parts = self._licences()
        self.licence = self._licence_of_all()

    def stand_beside(self, others: Sequence["ExportSource"]) -> None:
        """Export other releases into the same folder. Raises ExportError if two are the same split, or
        if their licences conflict.
        """
        self.beside = tuple(others)
        places = [(each.config, each.split) for each in self.all()]
        for source, place in zip(self.all(), places, strict=True):
            if places.count(place) > 1:
                raise ExportError(
                    f"{source.release_id} and another release are both split {place[1]} of {place[0]}: "
                    "leave one of them out of --with."
                )
        self.licence = self._licence_of_all()

    def all(self) -> tuple["ExportSource", ...]:
        """Return this release and the others in the same folder."""
        return (self, *self.beside)

    @property
    def stated_by_all(self) -> str:
        """The licences that were stated for the releases in the folder, joined by "and"."""
        return " and ".join(dict.fromkeys(each.stated for each in self.all() if each.stated))

    @property
    def config(self) -> str:
        """The name of the dataset's configuration: its language, in letters, digits and underscores."""
        return re.sub(r"\W+", "_", self.edition.language or "default")

    @property
    def split(self) -> str:
        """The name of the split, in letters, digits and underscores."""
        kind = "test" if self.card["kind"] == "benchmark" else "train"
        return re.sub(r"\W+", "_", self.edition.split or kind)

    def agreement(self) -> list[dict[str, Any]]:
        """Read the inter-annotator agreement on the release's items, as measured here."""
        return self._warehouse.read("release/export_agreement", self._where).to_pylist()

    def batches(self) -> Iterator[list[ExportedItem]]:
        """Yield the items in order, without those left out. `totals` counts them and starts at 0."""
        self.totals = Totals()
        places = self._warehouse.select("release.items", "ordinal", **self._where)
        n_items = max(places["ordinal"].to_pylist(), default=0)
        for first in range(1, n_items + 1, BATCH):
            last = first + BATCH - 1
            rows = self._warehouse.read_portion(
                "release/export_rows", {**self._where, "first": first, "last": last}
            )
            batch = [self._item(row) for row in rows.to_pylist()]
            remaining = [item for item in batch if not self._left_out(item)]
            for item in remaining:
                self.require(item)
                self.totals.items += 1
                self.totals.turns += len(item.turns)
                self.totals.pictures.update(picture.image_id for picture in item.pictures)
            self.on_batch(remaining)
            yield remaining
            self._progress(min(last, n_items), n_items)

    def items(self) -> Iterator[ExportedItem]:
        """Yield the items of all batches, one by one."""
        for batch in self.batches():
            yield from batch

    def read(self, image_id: str) -> bytes:
        """Return the bytes of an image. Raises ImageNotStored."""
        return self._store.read(image_id)

    def path(self, image_id: str) -> Path:
        """Return the verified file of an image. Raises ImageNotStored."""
        return self._store.path(image_id)

    def url(self, image_id: str) -> str:
        """Return a stored image as a data URL. Raises ImageNotStored."""
        mime = MIME_OF[self.path(image_id).suffix]
        return f"data:{mime};base64,{base64.b64encode(self.read(image_id)).decode()}"

    def leave_out(self, item: ExportedItem, why: str) -> None:
        """Count an item of a batch as left out.

        Args:
            item: The item.
            why: The reason.
        """
        self.totals.items -= 1
        self.totals.turns -= len(item.turns)
        self.totals.left_out[why] += 1

    def _item(self, row: Mapping[str, Any]) -> ExportedItem:
        item = item_of(row, with_answers=self.with_answers)
        if not self.stated:
            return item
        credited = [
            picture if picture.licence else picture._replace(licence=self.stated)
            for picture in item.pictures
        ]
        return replace(item, pictures=tuple(credited))

    def _left_out(self, item: ExportedItem) -> bool:
        why = reason((picture.licence for picture in item.pictures), self.left_out)
        if why:
            self.totals.left_out[why] += 1
        return why is not None

    def _licence_of_all(self) -> SetLicence:
        licence = licence_of_set(sum((each._parts for each in self.all()), Counter()))
        if licence.conflict:
            raise ExportError(self._conflict(licence))
        return licence

    def _licences(self) -> "Counter[str | None]":
        """Count the exported items by licence."""
        parts: Counter[str | None] = Counter()
        if self.stated:
            parts[self.stated] += self.card["n_items"]
        for licences, n_items in self._items():
            if not reason(licences, self.left_out):
                parts.update(dict.fromkeys(licences, n_items))
        return parts

    def _items(self) -> Iterator[tuple[list[str | None], int]]:
        """Yield combinations of image licences, each with its number of items."""
        for row in self._warehouse.read("release/export_licences", self._where).to_pylist():
            yield [licence or self.stated or None for licence in row["licences"]], row["n_items"]

    def _items_without(self, left_out: Collection[Term]) -> int:
        """Count the items that remain if licences with these terms are left out."""
        return sum(n for licences, n in self._items() if not reason(licences, left_out))

    def _conflict(self, licence: SetLicence) -> str:
        first, second = licence.conflict or ("", "")
        what = (
            f"pictures under {first}, which lets nobody pass them on"
            if first == second
            else f"pictures under {first} and under {second}, which no licence of the whole allows "
            "together"
        )
        left_out = {
            release.card["name"]: sorted({*release.left_out, *licence.leave_out})
            for release in self.all()
        }
        terms = ", ".join(f"{name}: [{', '.join(these)}]" for name, these in left_out.items())
        has_items = any(each._items_without(left_out[each.card["name"]]) for each in self.all())
        names = ", ".join(each.release_id for each in self.all())
        return (
            f"{names} {'have' if self.beside else 'has'} {what}: to leave items with such pictures "
            f"out, set licences_left_out: {{{terms}}} under release.exports in settings.yaml."
            + ("" if has_items else " No item would be left.")
        )
