"""An import may take memory and processor time only in proportion to its file."""

import resource
import time
from pathlib import Path

import pytest

from resources.files import import_limits as limits
from resources.files.import_limits import ImportLimitError, import_limits


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.tsv"
    path.write_bytes(bytes(1_000))
    return path


@pytest.fixture
def no_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.0)
    monkeypatch.setattr(limits, "_EVERY", 0.01)


def _work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        try:
            sum(range(1_000))
        except Exception:
            pytest.fail("a faulty record is what the code took it for")


def test_memory_is_limited_by_the_size_of_the_file_and_only_meanwhile(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr(limits, "MEMORY", 200_000_000)
    said = r"table\.tsv was ended.* more memory \(over 0\.2 GB\) than its 1,000 bytes"
    with pytest.raises(ImportLimitError, match=said), import_limits(file):
        bytearray(400_000_000)
    monkeypatch.setattr(limits, "MEMORY_OF_BYTE", 400_000)
    with import_limits(file):
        bytearray(400_000_000)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.usefixtures("no_seconds")
def test_processor_time_is_limited_by_what_is_read(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(bytes(1_000_000))
    monkeypatch.setattr(limits, "SECONDS_OF_BYTE", 1e-6)
    said = "far more processor time than its 1,000,000 bytes"
    with pytest.raises(ImportLimitError, match=said), import_limits(file):
        _work(0.5)
    with import_limits(file):
        file.read_bytes()
        _work(0.1)
    _work(0.1)


@pytest.mark.usefixtures("no_seconds")
def test_a_folder_has_the_bytes_of_its_files_and_other_errors_stay(file: Path) -> None:
    (file.parent / "images").mkdir()
    (file.parent / "images" / "a.png").write_bytes(bytes(500))
    with pytest.raises(ImportLimitError, match="1,500 bytes"), import_limits(file.parent):
        _work(1)
    with pytest.raises(KeyError), import_limits(file):
        raise KeyError
