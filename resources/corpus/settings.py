"""`corpus.yaml`: further shards, filters, and how Wikipedia and images are fetched.

Every key is optional, and so is the file.
"""

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from methods.errors import UserError
from methods.ingest.image_filters import ImageLimits
from methods.ingest.topics import Topic
from methods.licences.reading import licence_name
from methods.validation import first_fault
from methods.wikimedia.addresses import THUMBNAIL_WIDTHS
from methods.yaml_text import from_yaml
from resources.files.bounded import read_file

FILE_NAME = "corpus.yaml"


class CorpusError(UserError):
    """The corpus or a file in it cannot be used; the message says what to do."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Licence(_Part):
    """The licence of images for which no other source states a licence."""

    name: str
    url: str | None = None
    artist: str | None = None

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if licence_name(name) is None:
            raise ValueError(
                f"{name[:80]!r} is not a licence that is known; write it as SPDX does, such as "
                "CC-BY-SA-4.0, or as LicenseRef-Name if it is one of your own"
            )
        return name


class WikipediaPages(_Part):
    """The Wikipedia pages of a shard: named pages and members of categories, up to `limit` in all."""

    language: str = Field("en", pattern=r"^[a-z][a-z0-9-]*$")
    pages: list[str] = []
    categories: list[str] = []
    limit: Annotated[int, Field(gt=0)] = 500


class WikipediaSettings(_Part):
    """The contact for requests to Wikipedia, and the data to request."""

    contact: str | None = None
    """Mail address or web page of a person; Wikimedia's User-Agent policy requires it."""
    api: str = "https://{language}.wikipedia.org/w/api.php"
    """Address of the wiki's api.php, at any path; {language} stands for each shard's language."""
    shards: dict[str, WikipediaPages] = {}
    enrich: bool = False
    """Whether pages of other shards get categories, extracts and licences from Wikipedia."""


class ImageSettings(_Part):
    """Settings for fetching and excluding images."""

    width: int | None = None
    """The width in pixels at which images are fetched from Wikimedia, one of its standard
    widths; None for the original."""
    allow_private_addresses: bool = False
    licence: Licence | None = None
    limits: ImageLimits = ImageLimits()
    exclude: list[str] = []
    """Files with MD5 or SHA-256 digests of images in other benchmarks or training sets."""

    @field_validator("width")
    @classmethod
    def _is_a_step(cls, width: int | None) -> int | None:
        if width is not None and width not in THUMBNAIL_WIDTHS:
            raise ValueError(f"Wikimedia makes thumbnails of {list(THUMBNAIL_WIDTHS)} pixels only")
        return width


class CorpusSettings(_Part):
    """All of `corpus.yaml`. A Wikipedia shard whose language is not among `languages` is an error."""

    shards: list[str] = []
    """Addresses (http, https, hf) of shards that are not in the folder."""
    weekly_shards: Annotated[int, Field(gt=0)] | None = None
    """The most new or changed shards that the weekly schedule ingests; None for all."""
    languages: list[str] = []
    """Codes of Wikipedia's languages, in lower case; empty for all languages."""
    topics: dict[str, Topic] = {}
    """Task types, each with the words that select its Wikipedia pages; empty for all pages."""
    wikipedia: WikipediaSettings = WikipediaSettings()
    images: ImageSettings = ImageSettings()

    @field_validator("languages", mode="before")
    @classmethod
    def _are_words(cls, languages: Any) -> Any:
        if isinstance(languages, list) and False in languages:
            raise ValueError("YAML reads no as false, so write 'no' in quotes")
        return languages

    @field_validator("languages")
    @classmethod
    def _ignore_case(cls, languages: list[str]) -> list[str]:
        codes = [language.strip().lower() for language in languages]
        if "" in codes:
            raise ValueError("a language is empty; for every language leave languages out")
        return codes

    @model_validator(mode="after")
    def _languages_are_taken(self) -> "CorpusSettings":
        for name, pages in self.wikipedia.shards.items():
            if self.languages and pages.language not in self.languages:
                raise ValueError(
                    f"the shard {name} is in {pages.language}, which is not among languages, "
                    "so none of its pages would be taken"
                )
        return self


def load_settings(folder: Path) -> CorpusSettings:
    """Load the settings in a folder, or the defaults if it has no settings. Raises CorpusError."""
    path = folder / FILE_NAME
    if not path.is_file():
        return CorpusSettings()
    try:
        content: Any = from_yaml(read_file(path).decode())
        return CorpusSettings.model_validate(content or {})
    except ValidationError as error:
        place, fault = first_fault(error, CorpusSettings)
        raise CorpusError(f"Correct {place or 'the keys'} in {path}: {fault}.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CorpusError(f"{path} cannot be read as YAML: {error}") from None
