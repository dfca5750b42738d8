"""Shared code for building releases: result types, licence filter, and sources of images."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from methods.licences.terms import BY_DEFAULT, TERMS, UNKNOWN, Term, reason
from methods.release import Edition, Origin, Release
from resources.warehouse import Warehouse

Row = dict[str, Any]
T = TypeVar("T")


class BuiltRelease(NamedTuple):
    """A release to freeze, with the providers of its texts, and counts of quality findings."""

    name: str
    edition: Edition
    release: Release
    providers: Sequence[str]
    quality: Mapping[str, int] | None = None


class BuiltReleases(NamedTuple):
    """The releases that were built from approved items.

    Attributes:
        releases: The releases.
        absent: The reason for each release that could not be built, by name.
        counts: Counts of items for the metadata, also of dropped ones.
        warnings: Messages for people.
    """

    releases: Sequence[BuiltRelease]
    absent: Mapping[str, str]
    counts: Mapping[str, int] = {}
    warnings: Sequence[str] = ()


class Licences:
    """Licence filter: leaves out items with images of excluded licences, and counts them by release.

    `chosen` are the excluded licence terms by name of the release; other releases use the default of
    their kind.
    """

    def __init__(self, chosen: Mapping[str, Sequence[Term]]) -> None:
        self._chosen = chosen
        self.left_out: dict[str, Counter[Term]] = {}
        """Release name -> number of left-out items by licence term (the first that applies)."""
        self._considered: dict[str, int] = {}

    def allowed(
        self,
        name: str,
        items: Sequence[T],
        pictures: Callable[[T], Iterable[Mapping[str, Any]]],
        kind: str = "benchmark",
    ) -> list[T]:
        """Select the items that a release may contain.

        Args:
            name: The release.
            items: The items.
            pictures: Returns the source rows of an item's images, with the column `licence`.
            kind: The kind of the release.
        """
        excluded = self._chosen.get(name, BY_DEFAULT[kind])
        whys = [reason((row["licence"] for row in pictures(item)), excluded) for item in items]
        self._considered[name] = len(items)
        if counted := Counter(why for why in whys if why):
            self.left_out[name] = counted
        return [item for item, why in zip(items, whys, strict=True) if not why]

    def empty(self) -> list[str]:
        """Return the names of releases without any allowed item."""
        return [
            name
            for name, counts in self.left_out.items()
            if counts.total() == self._considered[name]
        ]

    def none_left(self, name: str) -> str:
        """Return the reason why a release has no items, as a clause."""
        return f"Every item of {name} has an image with an excluded licence"

    def sentences(self) -> list[str]:
        """Return a message for each release on its left-out items, and how to include them."""
        return [self._sentence(name) for name in self.left_out]

    def _sentence(self, name: str) -> str:
        counted = self.left_out[name]
        why = ", ".join(f"{term} {counted[term]}" for term in TERMS if counted[term])
        state = (
            "state the licence of the corpus's pictures as images.licence in its corpus.yaml and run "
            "the job build again, or "
        )
        return (
            f"{name} leaves out {counted.total()} of {self._considered[name]} items for the licence of "
            f"a picture ({why}): {state if counted[UNKNOWN] else ''}let them in with "
            f"licences_left_out: {{{name}: []}} under release.releases in settings.yaml."
        )


def sources(warehouse: Warehouse) -> dict[tuple[str, str], Row]:
    """Read the source columns of `release.images`, by (set id, image id)."""
    return {
        (row.pop("set_id"), row.pop("image_id")): row
        for row in warehouse.read("release/sources").to_pylist()
    }


def picture_sources(warehouse: Warehouse) -> dict[str, Row]:
    """Return the source columns of `release.images` of single-image items, by image id."""
    rows = warehouse.read("release/picture_sources").to_pylist()
    return {row.pop("image_id"): row for row in rows}


def origin(call: Row, text: str | None, generated: str | None) -> Origin:
    """Return the model call that a text comes from.

    Args:
        call: The call that generated it.
        text: The current text.
        generated: The text that the model wrote.

    Returns:
        The call; empty if a person changed the text.
    """
    return Origin(call["call_key"], call["prompt_version"]) if text == generated else Origin()
