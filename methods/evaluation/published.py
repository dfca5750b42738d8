"""Benchmarks as they are published: the record that files of any format are read into."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from methods.evaluation.items import Turn


class BrokenImage(str):
    """Stands for an image that a record should have and has not: a clause that says what is wrong.

    `reason` is a short code, like that of ImageRejected.
    """

    reason: str

    def __new__(cls, reason: str, detail: str) -> "BrokenImage":
        """The image of a record; `detail` is the clause."""
        image = super().__new__(cls, detail)
        image.reason = reason
        return image


@dataclass(frozen=True)
class PublishedItem:
    """One item of a published file; `images` in order of position.

    An image is the path that the file names, a data URL, the bytes that the file has inside, or a
    `BrokenImage`. The other fields are those of methods.evaluation.items.Item.
    """

    item_id: str
    turns: tuple[Turn, ...]
    images: tuple[str | bytes, ...] = ()
    choices: tuple[str, ...] = ()
    group_id: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    images_may_be_absent: bool = False
    """Whether the item is of use without the files that its paths name: it can be judged."""


class PublishedTable(NamedTuple):
    """A table of a published file as texts, its header first; `name` is that of the sheet or file."""

    name: str
    rows: Sequence[Sequence[str]]


class PublishedError(Exception):
    """A file is not in a form that its benchmark is published in.

    The message is a clause that names the record and what is wrong, for example "record 2 ('d7') has 3
    <ImageHere> for 2 images"; who reads the file puts it into a sentence.
    """


class PublishedFormats(Protocol):
    """The attribute `published` of a benchmark: a module or an object with these functions."""

    @property
    def PUBLISHED_FILES(self) -> Mapping[str, str]:
        """Name of each file that `write_published` makes, and what is in it, in words."""
        ...

    def read_published(self, name: str, lines: Iterable[str]) -> Iterator[PublishedItem]:
        """Items of the file `name`, whose text comes line by line with its line ends as they are.

        The table of a `.parquet` comes as the lines of a TSV.

        Raises PublishedError for a file without records, and for a record that is not as it has to be.
        """
        ...

    def write_published(
        self, items: Sequence[PublishedItem], picture: Callable[[str], bytes]
    ) -> Mapping[str, Iterable[str]]:
        """The text of each file, in pieces, by name; `picture` gives the bytes of an image's path.

        That of a `.parquet` is the TSV, line by line, whose rows it is to have.
        """
        ...


@runtime_checkable
class TableFormats(Protocol):
    """The same for a benchmark that is published as tables which are matched by id, in any number."""

    def read_tables(
        self, tables: Sequence[PublishedTable], say: Callable[[str], None]
    ) -> Iterator[PublishedItem]:
        """Items of the tables; `say` is told in a clause what of them is left out.

        Raises PublishedError for tables without items, and for a row that is not as it has to be.
        """
        ...
