"""What is said of an image, with figures worked by hand, and that nothing is said of a broken one."""

import hashlib
import struct
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from methods.ingest.image_check import ImageRejected
from methods.ingest.image_quality import WORKING_SIDE, ImageFacts, laplacian_variance, measure_image
from methods.ingest.picture import upright_rgb
from resources.files.home import REPO_ROOT
from tests.methods.ingest.pictures_drawn import encoded

pytestmark = pytest.mark.slow


def facts_of(image: Image.Image, format_name: str = "PNG", **options) -> ImageFacts:
    return measure_image(encoded(image, format_name, **options))


def grey(rows: object) -> Image.Image:
    return Image.fromarray(np.asarray(rows, dtype=np.uint8))


def scene(size: tuple[int, int] = (120, 80)) -> Image.Image:
    """A picture with shapes, the same at every call."""
    image = Image.radial_gradient("L").resize(size)
    image.paste(200, (size[0] // 8, size[1] // 4, size[0] // 2, size[1] // 2))
    image.paste(20, (size[0] // 2, size[1] // 2, size[0] * 7 // 8, size[1] * 3 // 4))
    return Image.merge("RGB", (image, image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), image))


def tagged(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


FRAMES = [grey(np.full((30, 40), shade)) for shade in (0, 99, 200)]
MOVING = {"save_all": True, "append_images": FRAMES[1:]}
WIDE = Image.fromarray(np.asarray(scene().convert("L")).astype(np.uint16) * 257)
CLEAR = Image.new("RGBA", (120, 80), (0, 0, 0, 9))
KINDS = {
    "JPEG": (encoded(scene(), "JPEG"), "image/jpeg", "RGB"),
    "CMYK JPEG": (encoded(scene().convert("CMYK"), "JPEG"), "image/jpeg", "CMYK"),
    "PNG": (encoded(scene()), "image/png", "RGB"),
    "PNG with alpha": (encoded(scene().convert("RGBA")), "image/png", "RGBA"),
    "16 bits": (encoded(WIDE), "image/png", "I;16"),
    "palette": (encoded(scene().quantize(16)), "image/png", "P"),
    "GIF": (encoded(scene().quantize(16), "GIF"), "image/gif", "P"),
    "WebP with alpha": (encoded(CLEAR, "WEBP"), "image/webp", "RGBA"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_file_is_named_and_sized(kind):
    data, mime, mode = KINDS[kind]
    facts = measure_image(data)
    assert facts.image_id == hashlib.sha256(data).hexdigest()
    assert facts.md5 == hashlib.md5(data).hexdigest()
    assert (facts.mime_type, facts.mode, facts.n_bytes) == (mime, mode, len(data))
    assert (facts.width, facts.height, facts.aspect) == (120, 80, 1.5)
    assert not facts.animated and not facts.rotated


@pytest.mark.parametrize("format_name", ["GIF", "WEBP", "PNG"])
def test_a_moving_picture_says_so_and_is_measured_by_its_first_frame(format_name):
    options = {"lossless": True} if format_name == "WEBP" else {}
    facts = facts_of(FRAMES[1], format_name, save_all=True, append_images=FRAMES[2:], **options)
    assert facts.animated and (facts.width, facts.height) == (40, 30)
    assert facts.brightness == pytest.approx(99, abs=1)
    assert not facts_of(FRAMES[1], format_name, **options).animated


def test_a_picture_lying_on_its_side_is_sized_and_hashed_as_it_is_shown():
    mirrored = facts_of(scene(), "JPEG", exif=tagged(2))
    assert mirrored.rotated and (mirrored.width, mirrored.height) == (120, 80)
    lying = facts_of(scene(), exif=tagged(6))
    # Orientation 6: what is stored is turned a quarter clockwise.
    turned = facts_of(scene().transpose(Image.Transpose.ROTATE_270))
    assert (lying.width, lying.height, lying.aspect) == (80, 120, 80 / 120)
    assert lying.rotated and not turned.rotated
    assert lying.phash == turned.phash != facts_of(scene()).phash
    assert (lying.blur, lying.entropy) == (turned.blur, turned.entropy)


@pytest.mark.parametrize(
    ("rows", "entropy", "brightness", "contrast"),
    [
        # p = 1/2, 1/2: H = 1 bit; the mean of 0 and 255 is 127.5.
        ([[0] * 20 + [255] * 20] * 30, 1.0, 127.5, 255),
        # H = 1/2 * 1 + 1/4 * 2 + 2 * 1/8 * 3 = 1.75; mean (4 * 0 + 2 * 80 + 160 + 240) / 8 = 70.
        ([[0, 0, 0, 0, 80, 80, 160, 240]] * 5, 1.75, 70.0, 240),
        # All greys equally often.
        ([range(256)] * 4, 8.0, 127.5, 255),
        ([[10, 200], [30, 40]], 2.0, 70.0, 190),
        ([[99] * 80] * 80, 0.0, 99.0, 0),
    ],
)
def test_entropy_in_bits_brightness_and_contrast(rows, entropy, brightness, contrast):
    facts = facts_of(grey(rows))
    assert (facts.entropy, facts.brightness, facts.contrast) == (entropy, brightness, contrast)


def chequered(side: int, cell: int) -> Image.Image:
    rows, columns = np.indices((side, side)) // cell
    return grey((rows + columns) % 2 * 255)


def test_sharpness_is_that_of_the_working_copy():
    # Cells of 4 pixels, reduced 4 times to 256, are cells of one pixel again.
    assert facts_of(chequered(4 * WORKING_SIDE, cell=4)).blur == 1020**2
    # Cells of one pixel, reduced to half, are grey all over.
    assert facts_of(chequered(2 * WORKING_SIDE, cell=1)).blur == 0
    # At the working size nothing is reduced.
    assert facts_of(chequered(WORKING_SIDE, cell=1)).blur == 1020**2


@pytest.mark.parametrize("size", [(1, 1), (2, 50), (50, 2), (3000, 3), (2, 5000)])
def test_without_an_inner_pixel_there_is_no_edge_to_find(size):
    assert facts_of(Image.effect_noise(size, 60)).blur == 0


@given(arrays(np.uint8, st.tuples(st.integers(3, 12), st.integers(3, 12))))
def test_the_variance_is_that_of_the_laplacian_whichever_way_the_picture_stands(picture):
    def at(y: int, x: int) -> int:
        return int(picture[y, x])

    height, width = picture.shape
    laplacian = [
        at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1) - 4 * at(y, x)
        for y in range(1, height - 1)
        for x in range(1, width - 1)
    ]
    found = laplacian_variance(picture)
    assert found == pytest.approx(np.var(laplacian), abs=1e-6)
    assert found == laplacian_variance(np.rot90(picture)) == laplacian_variance(picture[:, ::-1])
    assert found == laplacian_variance(255 - picture)


def test_the_hash_is_imagehash_s_of_the_upright_picture():
    import imagehash

    images = (REPO_ROOT / "resources" / "sample_corpus" / "images").iterdir()
    for path in (path for path in images if "truncated" not in path.name):
        expected = imagehash.phash(upright_rgb(Image.open(path)))
        found = imagehash.hex_to_hash(measure_image(path.read_bytes()).phash)
        assert found - expected <= 4, path.name


def test_visible_is_the_mean_opacity():
    clear = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    assert facts_of(clear).visible == 0
    # Two pixels of sixteen, one of them half opaque (51 of 255 is a fifth).
    clear.putpixel((0, 0), (9, 9, 9, 255))
    clear.putpixel((1, 0), (9, 9, 9, 51))
    assert facts_of(clear).visible == pytest.approx(1.2 / 16)
    assert facts_of(clear.convert("RGB")).visible == facts_of(scene(), "JPEG").visible == 1


whole = [data for data, _, _ in KINDS.values()] + [encoded(FRAMES[0], "GIF", **MOVING)]


@pytest.mark.filterwarnings("ignore")
@given(
    st.sampled_from(whole),
    st.floats(0, 1),
    st.binary(max_size=8),
    st.sampled_from([1, 1, 0.5, 0.99]),
)
def test_damage_is_refused_or_survived_but_never_raises_another_error(data, place, junk, kept):
    at = int(place * len(data))
    damaged = (data[:at] + junk + data[at + len(junk) :])[: int(len(data) * kept)]
    with suppress(ImageRejected):
        measure_image(damaged)


def test_damaged_metadata_prints_no_warning_for_each_tag(tmp_path):
    tags = b"".join(struct.pack("<HHII", tag, 2, 4_000, 8) for tag in range(1, 200))
    exif = b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<H", 199) + tags + bytes(4)
    (tmp_path / "a.jpg").write_bytes(encoded(scene(), "JPEG", exif=exif))
    measure = (
        "import sys, pathlib; from methods.ingest.image_quality import measure_image; "
        "print(measure_image(pathlib.Path(sys.argv[1]).read_bytes()).width)"
    )
    command = [sys.executable, "-c", measure, str(tmp_path / "a.jpg")]
    done = subprocess.run(command, cwd=REPO_ROOT, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("120\n", "")
