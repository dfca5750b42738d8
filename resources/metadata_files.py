"""Read a user's metadata files in the format of MMIU, and store their images."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from methods.errors import UserError
from methods.ingest.image_check import ImageRejected
from methods.mmiu.metadata import MetadataFault, Sample, read_metadata
from resources.files.bounded import read_file
from resources.images.intake import take_in
from resources.images.store import ImageStore
from resources.importing.published_files import picture_in

ENDINGS = (".json", ".jsonl")


class MetadataFileError(UserError):
    """A metadata file cannot be used; the message names the file and all its errors."""


class ImportedSample(NamedTuple):
    """Sample `number` of the file `name`, with image ids of the store in place of paths."""

    name: str
    number: int
    sample: Sample


def read_samples(place: Path, store: ImageStore) -> list[ImportedSample]:
    """Read the samples of a metadata file, or of all .json and .jsonl files of a folder, sorted by
    name.

    Args:
        place: The file or folder. Images are looked up in the file's folder, and never outside it.
        store: The image store.

    Returns:
        The samples.

    Raises:
        MetadataFileError: A file or an image cannot be used.
    """
    return [sample for file in _files(place) for sample in _brought(file, store)]


def _files(place: Path) -> list[Path]:
    if place.is_dir():
        files = sorted(path for path in place.iterdir() if path.suffix.lower() in ENDINGS)
    else:
        files = [place] if place.is_file() and place.suffix.lower() in ENDINGS else []
    if not files:
        raise MetadataFileError(
            f"{place} is neither a .json or .jsonl file nor a folder with one: set metadata of "
            "choice.mmiu_items to one, or leave it empty."
        )
    return files


def _brought(file: Path, store: ImageStore) -> list[ImportedSample]:
    try:
        samples = read_metadata(file.name, read_file(file).decode("utf-8-sig"))
    except (MetadataFault, UnicodeDecodeError, OSError) as error:
        raise MetadataFileError(f"The metadata file {file} cannot be used: {error}.") from None
    id_of_path: dict[str, str] = {}
    faults: list[str] = []

    def stored(name: str, number: int) -> str:
        """Store an image, and return its id. An error is added to `faults`."""
        if name not in id_of_path:
            id_of_path[name] = ""
            try:
                id_of_path[name] = take_in(picture_in(file.parent.resolve(), name), store).image_id
            except ImageRejected as rejected:
                faults.append(
                    f"its image {ascii(name[:200])} (sample {number}) cannot be used: "
                    f"{rejected.detail.rstrip('.')}"
                )
        return id_of_path[name]

    brought = []
    for number, sample in enumerate(samples, start=1):
        with_ids = replace(sample, images=tuple(stored(name, number) for name in sample.images))
        if sample.of_images:
            with_ids = replace(
                with_ids,
                output=stored(sample.output, number),
                wrong=tuple(stored(name, number) for name in sample.wrong),
                also_right=tuple(stored(name, number) for name in sample.also_right),
            )
        brought.append(ImportedSample(file.name, number, with_ids))
    if faults:
        raise MetadataFileError(f"The metadata file {file} cannot be used: {'; '.join(faults)}.")
    return brought
