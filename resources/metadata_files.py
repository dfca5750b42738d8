"""Read a user's metadata files in the format of MMIU, and store their images."""

from collections.abc import Iterator
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


def _brought(file: Path, store: ImageStore) -> Iterator[ImportedSample]:
    try:
        samples = read_metadata(file.name, read_file(file).decode("utf-8-sig"))
    except (MetadataFault, UnicodeDecodeError, OSError) as error:
        raise MetadataFileError(f"The metadata file {file} cannot be used: {error}.") from None
    id_of_path: dict[str, str] = {}
    faults: list[str] = []
    brought = [
        ImportedSample(file.name, number, _stored(sample, number, file, store, id_of_path, faults))
        for number, sample in enumerate(samples, start=1)
    ]
    if faults:
        raise MetadataFileError(
            f"The metadata file {file} cannot be used: {'; '.join(dict.fromkeys(faults))}."
        )
    yield from brought


def _stored(
    sample: Sample,
    number: int,
    file: Path,
    store: ImageStore,
    id_of_path: dict[str, str],
    faults: list[str],
) -> Sample:
    """Replace the paths of a sample by image ids. Errors of images are added to `faults`."""

    def stored(name: str) -> str:
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

    images = tuple(map(stored, sample.images))
    if not sample.of_images:
        return replace(sample, images=images)
    return replace(
        sample,
        images=images,
        output=stored(sample.output),
        wrong=tuple(map(stored, sample.wrong)),
        also_right=tuple(map(stored, sample.also_right)),
    )
