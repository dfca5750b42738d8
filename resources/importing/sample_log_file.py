"""Reading logs of inspect_ai (`.eval`): zip files with a JSON file a sample, packed by zstd.

What belongs here: opening them. Python's `zipfile` knows no zstd, so that such a member is unpacked by
Arrow.
"""

import json
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from methods.evaluation.published import PublishedError
from methods.json_text import from_json
from resources.files.bounded import open_file, read_member

MOST_UNPACKED = 1_000_000_000
"""Bytes of all samples, unpacked."""
MOST_SAMPLE = 50_000_000
"""Bytes of a sample, unpacked: read as JSON they take twenty times as many."""
SAMPLES = "samples/"
_ZSTD = 93
_HEADER = struct.Struct("<26xHH")


def read_samples(file: Path) -> Iterator[Mapping[str, Any]]:
    """The samples of a log, by their names in it. Raises PublishedError."""
    try:
        with open_file(file) as data, zipfile.ZipFile(data) as archive:
            members = [info for info in archive.infolist() if info.filename.startswith(SAMPLES)]
            if sum(info.file_size for info in members) > MOST_UNPACKED:
                raise PublishedError(f"it is more than {MOST_UNPACKED:,} bytes when unpacked")
            for info in sorted(members, key=lambda info: info.filename):
                if info.file_size > MOST_SAMPLE:
                    raise PublishedError(
                        f"{ascii(info.filename[:200])} is more than {MOST_SAMPLE:,} bytes when unpacked"
                    )
                sample = from_json(_unpacked(archive, data, info), most=None)
                if not isinstance(sample, dict):
                    raise PublishedError(f"{info.filename} is not a mapping")
                yield sample
    except OSError as error:
        raise PublishedError(f"it cannot be read ({error.strerror or error})") from None
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, struct.error) as error:
        if isinstance(error, json.JSONDecodeError):
            raise PublishedError("a sample in it is not valid JSON") from None
        raise PublishedError("it is no .eval of inspect_ai, or a damaged one") from None


def _unpacked(archive: zipfile.ZipFile, data: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    if info.compress_type != _ZSTD:
        return read_member(archive, info.filename, info.file_size)
    data.seek(info.header_offset)
    n_name, n_extra = _HEADER.unpack(data.read(_HEADER.size))
    data.seek(n_name + n_extra, 1)
    packed = pa.BufferReader(data.read(info.compress_size))
    with pa.CompressedInputStream(packed, "zstd") as stream:
        # A file may say that it is smaller than it is.
        unpacked: bytes = stream.read(info.file_size + 1)
    if len(unpacked) != info.file_size:
        raise ValueError("it has another size than it says")
    return unpacked
