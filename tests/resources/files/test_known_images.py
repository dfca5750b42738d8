"""Lists of pictures by digest."""

from pathlib import Path

import pytest

from resources.files.rows import KnownImagesError, known_images

ONE, OTHER = "0a" * 32, "f" * 64


def test_a_list_as_sha256sum_writes_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    md5 = "c" * 32
    file.write_text(
        f"\ufeff# others'\n\n{ONE}  folder/a b.png\n{OTHER.upper()}\r\n{md5} *x\x0b\u2028y\n"
    )
    assert known_images(file) == {ONE, OTHER, md5}


@pytest.mark.parametrize("line", ["abc", ONE[:-1], f"{ONE}0", "a.png " + ONE, "g" * 64])
def test_a_line_without_a_hash_is_named(line: str, tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text(f"{OTHER}\n{line}\n")
    with pytest.raises(KnownImagesError, match=r"^The list of pictures .*\(Line 2 of"):
        known_images(file)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xfa"])
def test_a_file_that_cannot_be_read_is_one_sentence(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    if content:
        file.write_bytes(content)
    with pytest.raises(KnownImagesError, match="cannot be used"):
        known_images(file)
