"""The offline server's facts on drawn pictures with known colours and shapes."""

import io

import pytest
from PIL import Image, ImageDraw

from resources.offline.image_facts import COLOUR_NAMES, analyse, picture_facts
from tests.resources.offline.offline_drawings import DRAWN, RGB, data_url, draw, encoded


@pytest.mark.parametrize("drawn", DRAWN, ids=lambda drawn: f"{drawn[0]}-{drawn[2]}")
def test_facts_of_drawn_pictures(drawn: tuple) -> None:
    colour, background, shape, place, (width, height), parts = drawn
    facts = analyse(draw(*drawn))
    assert {colour, background} == set(facts.colour_names)
    assert facts.background == background
    assert (facts.shape, facts.place) == (shape, place)
    assert facts.count == ("single" if parts == 0 else "few" if parts < 5 else "many")
    ratio = width / height
    expected = "landscape" if ratio > 1 else "portrait" if ratio < 1 else "square"
    assert facts.orientation == expected
    assert facts.vividness == "vivid"


@pytest.mark.parametrize("name", COLOUR_NAMES)
def test_plain_fields_are_named(name: str) -> None:
    facts = analyse(Image.new("RGB", (64, 64), RGB[name]))
    assert facts.colours == ((name, 1.0),)
    assert (facts.place, facts.count) == ("centre", "single")


@pytest.mark.parametrize(("grey", "light"), [(10, "dark"), (100, "dim"), (220, "bright")])
def test_light(grey: int, light: str) -> None:
    facts = analyse(Image.new("L", (50, 50), grey))
    assert (facts.light, facts.vividness) == (light, "muted")


def test_thin_drawing_on_black_keeps_its_colour() -> None:
    image = Image.new("RGB", (600, 600), "black")
    ImageDraw.Draw(image).line((100, 100, 400, 300, 200, 500), fill="white", width=6)
    facts = analyse(image)
    assert facts.colour_names[0] == facts.background == "black"
    assert len(facts.colour_names) > 1
    assert facts.shape == "irregular"


def test_transparency_lies_on_white_and_turned_photos_stand_upright() -> None:
    assert analyse(Image.new("RGBA", (30, 30), (0, 0, 0, 0))).background == "white"
    stream = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    draw("red", "white").save(stream, "JPEG", exif=exif)
    with Image.open(stream) as image:
        assert analyse(image).orientation == "portrait"


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "CMYK", "I;16", "F"])
def test_every_mode_and_odd_sizes_are_read(mode: str) -> None:
    assert analyse(Image.new(mode, (1000, 2))).orientation == "landscape"


def test_cached_facts_are_the_same_object() -> None:
    url = data_url(encoded(draw("blue", "white")))
    assert picture_facts(url)[1] is picture_facts(url)[1]


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a.png",
        "data:image/png;base64,???",
        "data:image/png;base64,aGVsbG8=",
        "data:text/plain;base64,aGVsbG8=",
    ],
)
def test_unreadable_pictures_are_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(ValueError, match=r"^(image_url must be|The base64|The image data)"):
        picture_facts(url)


def test_truncated_picture_is_refused() -> None:
    data = encoded(draw("blue", "white"))
    with pytest.raises(ValueError, match=r"^(image_url must be|The base64|The image data)"):
        picture_facts(data_url(data[: len(data) // 2]))
