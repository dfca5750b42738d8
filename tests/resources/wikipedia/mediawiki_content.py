"""The pages and files of a small wiki, as a test gives and changes them."""

import io
from dataclasses import dataclass, field
from itertools import count

from PIL import Image

_numbers = count(1001)


@dataclass
class Use:
    """A medium's place on a page."""

    title: str
    caption: str | None = None
    section_id: int = 0
    lead: bool = False
    type: str = "image"


@dataclass
class Page:
    """A page; `redirect_to` may end in "#section"."""

    text: str = ""
    categories: list[str] = field(default_factory=list)
    images: list[Use] = field(default_factory=list)
    redirect_to: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    """Titles of the page in other languages, by language."""
    revision: int = field(default_factory=lambda: next(_numbers))
    page_id: int = field(default_factory=lambda: next(_numbers))

    def edit(self, **changes: object) -> None:
        """Change what is named, in a new revision."""
        for name, value in changes.items():
            setattr(self, name, value)
        self.revision = next(_numbers)


@dataclass
class File:
    """A file; what is not given of its size and type is read from its bytes."""

    data: bytes
    about: dict[str, str] = field(default_factory=dict)
    shared: bool = True
    mime: str = ""
    width: int = 0
    height: int = 0
    page_id: int = field(default_factory=lambda: next(_numbers))

    def __post_init__(self) -> None:
        if not self.mime:
            with Image.open(io.BytesIO(self.data)) as image:
                self.mime = Image.MIME[image.format]
                self.width, self.height = image.size


@dataclass(frozen=True)
class Limits:
    """The most that one answer gives of each; a request may ask for less."""

    categories: int = 500
    extracts: int = 20
    imageinfo: int = 50
    members: int = 500


@dataclass
class Content:
    """All wikis: pages by language and title, files by "File:Name.jpg"."""

    languages: dict[str, dict[str, Page]]
    files: dict[str, File]
    hidden: set[str]
    limits: Limits
    upload: str = ""
