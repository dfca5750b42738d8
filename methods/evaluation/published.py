"""Published files of benchmarks: the record that files of any format are read into."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from methods.evaluation.items import Turn


class BrokenImage(str):
    """An image of a record that cannot be used: a clause with the error.

    `reason` is a short code, like that of ImageRejected.
    """

    reason: str

    def __new__(cls, reason: str, detail: str) -> "BrokenImage":
        """Create the image; `detail` is the clause."""
        image = super().__new__(cls, detail)
        image.reason = reason
        return image


@dataclass(frozen=True)
class PublishedItem:
    """One item of a published file; `images` are in order of position.

    An image is a path in the file, a data URL, bytes, or a `BrokenImage`. The other fields are those of
    methods.evaluation.items.Item.
    """

    item_id: str
    turns: tuple[Turn, ...]
    images: tuple[str | bytes, ...] = ()
    choices: tuple[str, ...] = ()
    group_id: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    images_may_be_absent: bool = False
    """Whether the item is useful without the files that its paths name: its answers can be judged."""


class PublishedTable(NamedTuple):
    """A table of a published file as texts with its header; `name` is that of the sheet or file."""

    name: str
    rows: Sequence[Sequence[str]]


class PublishedError(Exception):
    """A file does not have a published format of its benchmark.

    The message is a clause that names the record and the error, for example "record 2 ('d7') has 3
    <ImageHere> for 2 images"; the importing code makes a sentence of it.
    """


class PublishedFormats(Protocol):
    """The attribute `published` of a benchmark: a module or an object with these functions."""

    @property
    def PUBLISHED_FILES(self) -> Mapping[str, str]:
        """The names of the files that `write_published` makes, with descriptions."""
        ...

    def read_published(self, name: str, lines: Iterable[str]) -> Iterator[PublishedItem]:
        """Read the items of a file.

        Args:
            name: The name of the file.
            lines: Its lines with their line ends; a `.parquet` as the lines of a TSV.

        Yields:
            The items.

        Raises:
            PublishedError: There are no records, or a record is not valid.
        """
        ...

    def write_published(
        self, items: Sequence[PublishedItem], picture: Callable[[str], bytes]
    ) -> Mapping[str, Iterable[str]]:
        """Write items as published.

        Args:
            items: The items.
            picture: Returns the bytes of an image's path.

        Returns:
            The text of each file, in pieces, by name; for a `.parquet` the lines of a TSV.
        """
        ...


@runtime_checkable
class TableFormats(Protocol):
    """Functions for a benchmark that is published as any number of tables, matched by id."""

    def read_tables(
        self, tables: Sequence[PublishedTable], say: Callable[[str], None]
    ) -> Iterator[PublishedItem]:
        """Read the items of several tables.

        Args:
            tables: The tables.
            say: Called with a clause for everything that is left out.

        Yields:
            The items.

        Raises:
            PublishedError: There are no items, or a row is not valid.
        """
        ...
