"""Addresses of images on Wikimedia's upload servers."""

import pytest

from methods.wikimedia import file_title, thumbnail_url

COMMONS = "https://upload.wikimedia.org/wikipedia/commons"
LONG = "%C3%A9" * 79 + ".jpg"
"""162 bytes, where the name in a thumbnail's address has 160 at most."""


@pytest.mark.parametrize(
    ("original", "thumbnail"),
    [
        ("/a/ab/Name.jpg", "/thumb/a/ab/Name.jpg/960px-Name.jpg"),
        ("/a/ab/Name.GIF", "/thumb/a/ab/Name.GIF/960px-Name.GIF"),
        (
            "/0/07/%C3%89t%C3%A9_%28x%29,_1.PNG",
            "/thumb/0/07/%C3%89t%C3%A9_%28x%29,_1.PNG/960px-%C3%89t%C3%A9_%28x%29,_1.PNG",
        ),
        ("/a/ab/Map.svg", "/thumb/a/ab/Map.svg/960px-Map.svg.png"),
        ("/a/ab/Scan.tif", "/thumb/a/ab/Scan.tif/lossy-page1-960px-Scan.tif.jpg"),
        ("/a/ab/Scan.TIFF", "/thumb/a/ab/Scan.TIFF/lossy-page1-960px-Scan.TIFF.jpg"),
        ("/a/ab/Name.jpg?utm_source=x#y", "/thumb/a/ab/Name.jpg/960px-Name.jpg"),
        (f"/a/ab/{LONG}", f"/thumb/a/ab/{LONG}/960px-thumbnail.jpg"),
    ],
)
def test_an_original_has_a_thumbnail(original, thumbnail):
    for site in (COMMONS, COMMONS.replace("commons", "de")):
        assert thumbnail_url(site + original, 960, 4000) == site + thumbnail


@pytest.mark.parametrize(
    "url",
    [
        f"{COMMONS}/thumb/a/ab/Name.jpg/960px-Name.jpg",
        "https://thumb.wikimedia.org/wikipedia/commons/thumb/a/ab/Map.svg/500px-Map.svg.png?utm=x",
        f"{COMMONS}/a/ab/Talk.ogg",
        f"{COMMONS}/a/ab/Book.pdf",
        f"{COMMONS}/archive/a/ab/2020!Name.jpg",
        f"{COMMONS}/a/ab/",
        "https://example.org/wikipedia/commons/a/ab/Name.jpg",
        "https://upload.wikimedia.org.example.org/wikipedia/commons/a/ab/Name.jpg",
        "http://[x/wikipedia/commons/a/ab/Name.jpg",
        "",
    ],
)
def test_what_has_none_stays_as_it_is(url):
    assert thumbnail_url(url, 960, 4000) == url


@pytest.mark.parametrize("original_width", [1, 959, 960, None])
def test_no_picture_is_enlarged(original_width):
    url = f"{COMMONS}/a/ab/Name.jpg"
    assert thumbnail_url(url, 960, original_width) == url


@pytest.mark.parametrize(
    ("name", "original_width", "rendition"),
    [
        ("Map.svg", 10, "960px-Map.svg.png"),
        ("Map.svg", None, "960px-Map.svg.png"),
        ("Scan.tif", 700, "lossy-page1-500px-Scan.tif.jpg"),
        ("Scan.tif", 960, "lossy-page1-960px-Scan.tif.jpg"),
        ("Scan.tif", 5, "lossy-page1-20px-Scan.tif.jpg"),
        ("Scan.tif", None, "lossy-page1-960px-Scan.tif.jpg"),
    ],
)
def test_what_no_browser_shows_always_has_a_thumbnail(name, original_width, rendition):
    """A drawing is enlarged; a TIFF is given at the widest step that needs no enlarging."""
    thumbnail = thumbnail_url(f"{COMMONS}/a/ab/{name}", 960, original_width)
    assert thumbnail == f"{COMMONS}/thumb/a/ab/{name}/{rendition}"


@pytest.mark.parametrize(
    ("url", "title"),
    [
        (f"{COMMONS}/a/ab/Barn_owl_%28Tyto%29.jpg", "File:Barn owl (Tyto).jpg"),
        (f"{COMMONS}/thumb/a/ab/A_b.jpg/960px-A_b.jpg?utm_source=x", "File:A b.jpg"),
        (f"{COMMONS}/thumb/a/ab/{LONG}/500px-thumbnail.jpg", f"File:{'é' * 79}.jpg"),
        ("//upload.wikimedia.org/wikipedia/commons/a/ab/M%C3%BC.svg", "File:Mü.svg"),
        ("https://thumb.wikimedia.org/wikipedia/en/thumb/a/ab/X.svg/20px-X.svg.png", "File:X.svg"),
        (f"{COMMONS}/archive/a/ab/2020!Name.jpg", None),
        ("https://example.org/wikipedia/commons/a/ab/Name.jpg", None),
        ("http://[x/Name.jpg", None),
        ("", None),
    ],
)
def test_the_title_of_an_images_file(url, title):
    assert file_title(url) == title
