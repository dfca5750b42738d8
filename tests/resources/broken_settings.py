"""Settings that cannot be used: `corpus.yaml`, the lists it names, and the mirror of images."""

from collections.abc import Callable
from pathlib import Path

from resources.corpus.corpus import Corpus
from resources.corpus.settings import CorpusError, load_settings
from resources.images.fetcher import ImageFetcher, ImageSourceError
from tests.resources.broken_outcomes import Case, NotBegun, Outcome, Stopped


def of_yaml(text: str | bytes) -> Callable[[Path], Outcome]:
    """A folder with this `corpus.yaml`: a run's resources read it, then its shards are looked for."""

    def feed(folder: Path) -> Outcome:
        content = text if isinstance(text, bytes) else text.encode()
        (folder / "corpus.yaml").write_bytes(content)
        try:
            load_settings(folder)
        except CorpusError as error:
            return NotBegun(str(error))
        return Stopped("ingest/wit_rows", sentence(Corpus(folder, folder).shards))

    return feed


def of_list(content: bytes | None) -> Callable[[Path], Outcome]:
    """A folder with this list of excluded images, None for no such file."""

    def feed(folder: Path) -> Outcome:
        (folder / "corpus.yaml").write_text("images: {exclude: [coco.md5]}\n")
        if content is not None:
            (folder / "coco.md5").write_bytes(content)
        return Stopped("ingest/images", sentence(Corpus(folder, folder).excluded))

    return feed


def of_images(mirror: str | None, contact: str | None = None) -> Callable[[Path], Outcome]:
    """A mirror of images, and a contact, as the environment and the settings give them."""

    def feed(folder: Path) -> Outcome:
        place = mirror and mirror.replace("FOLDER", str(folder))
        return NotBegun(sentence(lambda: ImageFetcher(place, contact=contact)))

    return feed


def sentence(use: Callable[[], object]) -> str:
    try:
        use()
    except (CorpusError, ImageSourceError) as error:
        return str(error)
    raise AssertionError("The settings were taken.")


TWO_OWLS = "shards: ['https://example.org/a/owls.tsv', 'https://example.org/b/owls.tsv.gz']"
SETTINGS = [
    Case("An unknown key", of_yaml("languges: [en]")),
    Case("A string where a list is needed", of_yaml("languages: en")),
    Case("A list instead of a mapping", of_yaml("- languages")),
    Case("Invalid YAML", of_yaml("languages: [en")),
    Case("Bytes that are not text", of_yaml(b"\xff\xfe\x00")),
    Case("A thumbnail width that Wikimedia does not offer", of_yaml("images: {width: 300}")),
    Case("An unknown image limit", of_yaml("images: {limits: {min_size: 3}}")),
    Case("A `near_duplicate_bits` of 17", of_yaml("images: {near_duplicate_bits: 17}")),
    Case("A licence without a name", of_yaml("images: {licence: {artist: Ada}}")),
    Case("An unknown licence", of_yaml("images: {licence: {name: free}}")),
    Case("A language in capitals", of_yaml("wikipedia: {shards: {owls: {language: EN}}}")),
    Case(
        "A remote shard with an unknown extension",
        of_yaml("shards: ['https://example.org/owls.csv']"),
    ),
    Case("A remote shard at an `ftp://` URL", of_yaml("shards: ['ftp://example.org/owls.tsv']")),
    Case("Two remote shards with the same name", of_yaml(TWO_OWLS)),
    Case("A list in `images.exclude` that does not exist", of_list(None)),
    Case("A line of that list that is not a digest", of_list(b"# COCO\n\nowl.png\n")),
    Case("A list that is not text", of_list(b"\x89PNG\r\n\xff")),
    Case("An image mirror that does not exist", of_images("FOLDER/mirror")),
    Case("An image mirror with an invalid URL", of_images("http://")),
    Case("A contact with a line break", of_images(None, "me@example.org\r\nCookie: a=b")),
]
