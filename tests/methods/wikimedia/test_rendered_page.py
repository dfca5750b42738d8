"""A page's introduction and images in the markup of both parsers, and addresses of images."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.wikimedia.addresses import file_title, thumbnail_url
from methods.wikimedia.facts import PageImage
from methods.wikimedia.rendered_page import introduction, shown_images

OLD = """<div class="mw-parser-output"><div class="thumb tright"><div class="thumbinner">
<a href="/wiki/Datei:Barn_owl.png" class="image"><img alt=""
src="/images/thumb/b/bd/Barn_owl.png/300px-Barn_owl.png"/></a>
<div class="thumbcaption"><div class="magnify"><a title="Enlarge">x</a></div>A <i>barn</i>
owl<sup class="reference">[1]</sup></div></div></div>
<p>An owl is a bird.<sup id="cite" class="reference"><a>[1]</a></sup></p>
<div id="toc" class="toc"><h2>Contents</h2><ul><li>Eggs</li></ul></div>
<ul><li><p>It hunts.</p></li></ul><table><tr><td><p>30 cm</p></td></tr></table>
<h2><span class="mw-headline">Eggs</span></h2><p>Seven.</p>
<h3>White</h3>
<ul class="gallery"><li class="gallerybox"><div class="thumb"><a><img
src="/images/e/eg/Egg_%C3%A9.jpg"/></a></div>
<div class="gallerytext"><p>An egg</p></div></li></ul></div>"""
NEW = """<div class="mw-parser-output"><figure typeof="mw:File/Thumb">
<a href="/index.php?title=File:Barn_owl.png" class="mw-file-description"><img
resource="./File:Barn_owl.png"
src="https://cdn.example.org/1a2b" class="mw-file-element"/></a><figcaption>A <i>barn</i>
owl<sup class="reference">[1]</sup>
</figcaption></figure>
<p>An owl is a bird.<sup class="mw-ref reference">[1]</sup></p>
<ul><li>It hunts.</li></ul>
<section><div class="mw-heading mw-heading2"><h2 id="Eggs">Eggs</h2></div><p>Seven.</p>
<div class="mw-heading mw-heading3"><h3 id="White">White</h3></div>
<ul class="gallery"><li class="gallerybox"><div class="thumb"><span><a
href="/wiki/File:Egg_%C3%A9.jpg"><img src="/x/Egg.jpg"/></a>
</span></div><div class="gallerytext">An egg</div></li></ul></section></div>"""
NAMES = ["Egg_é.jpg", "Barn_owl.png", "Lost_egg.png"]


@pytest.mark.parametrize("html", [OLD, NEW], ids=["older parser", "newer parser"])
def test_both_parsers_markup_says_the_same(html):
    assert introduction(html) == "An owl is a bird.\nIt hunts."
    assert shown_images(html, NAMES) == (
        PageImage("File:Barn owl.png", "A barn owl", 0, True),
        PageImage("File:Egg é.jpg", "An egg", 2, False),
        PageImage("File:Lost egg.png", None, 0, False),
    )


def test_an_image_without_a_frame_has_no_caption_and_one_shown_twice_is_one():
    html = (
        '<h2>A</h2><figure><figcaption>Not its own</figcaption></figure><p><img src="/b/A.png"></p>'
        '<figure><img src="/b/A.png"><figcaption>Too late</figcaption></figure><img src="/b/A.png">'
    )
    assert shown_images(html, ["A.png"]) == (PageImage("File:A.png", None, 1, False),)


def test_pictures_that_are_no_files_of_the_wiki_are_no_images():
    html = (
        '<img src="https://example.org/skin/logo.png"><img><img src="//[/A.png">'
        '<img src="/thumb.php?f=A.png">'
    )
    assert shown_images(html, ["A.png"]) == (PageImage("File:A.png", None, 0, True),)
    assert shown_images(html, []) == ()


def test_a_block_inside_a_block_is_read_once():
    assert introduction("<pre>a<pre>b</pre></pre><p>c") == "a b\nc"
    assert introduction("<blockquote><p>a</p></blockquote><p>b<h2>c</h2><p>d") == "a\nb"


@given(st.text(), st.lists(st.text(min_size=1)))
def test_any_text_is_read_and_each_named_file_is_there_once(html, names):
    found = [image.title for image in shown_images(html, names)]
    wanted = {"File:" + name.replace("_", " ") for name in names}
    assert sorted(found) == sorted(wanted)
    assert isinstance(introduction(html), str)


COMMONS = "https://upload.wikimedia.org/wikipedia/commons"
THUMBNAILS = "https://thumb.wikimedia.org/wikipedia"
LONG = "%C3%A9" * 79 + ".jpg"
"""162 bytes, where the name in a thumbnail's address has 160 at most."""


def test_an_original_has_a_thumbnail():
    thumbnails = {
        "/a/ab/Name.jpg": "/thumb/a/ab/Name.jpg/960px-Name.jpg",
        "/0/07/%C3%89t%C3%A9_%28x%29,_1.PNG": (
            "/thumb/0/07/%C3%89t%C3%A9_%28x%29,_1.PNG/960px-%C3%89t%C3%A9_%28x%29,_1.PNG"
        ),
        "/a/ab/Scan.TIFF": "/thumb/a/ab/Scan.TIFF/lossy-page1-960px-Scan.TIFF.jpg",
        "/a/ab/Name.jpg?utm_source=x#y": "/thumb/a/ab/Name.jpg/960px-Name.jpg",
        f"/a/ab/{LONG}": f"/thumb/a/ab/{LONG}/960px-thumbnail.jpg",
    }
    for site in (COMMONS, COMMONS.replace("commons", "de")):
        for original, thumbnail in thumbnails.items():
            assert thumbnail_url(site + original, 960, 4000) == site + thumbnail


@pytest.mark.parametrize(
    ("url", "width"),
    [
        *((f"{COMMONS}/a/ab/Name.jpg", width) for width in (1, 959, 960, None)),
        (f"{COMMONS}/thumb/a/ab/Name.jpg/960px-Name.jpg", 4000),
        (f"{THUMBNAILS}/commons/thumb/a/ab/Map.svg/500px-Map.svg.png?utm=x", 4000),
        (f"{COMMONS}/a/ab/Book.pdf", 4000),
        (f"{COMMONS}/archive/a/ab/2020!Name.jpg", 4000),
        ("https://example.org/wikipedia/commons/a/ab/Name.jpg", 4000),
        ("https://upload.wikimedia.org.example.org/wikipedia/commons/a/ab/Name.jpg", 4000),
        ("http://[x/wikipedia/commons/a/ab/Name.jpg", 4000),
    ],
)
def test_no_picture_is_enlarged_and_what_has_no_thumbnail_stays_as_it_is(url, width):
    assert thumbnail_url(url, 960, width) == url


def test_what_no_browser_shows_always_has_a_thumbnail():
    """A drawing is enlarged; a TIFF is given at the widest step that needs no enlarging."""
    for name, original_width, rendition in (
        ("Map.svg", None, "960px-Map.svg.png"),
        ("Scan.tif", 700, "lossy-page1-500px-Scan.tif.jpg"),
        ("Scan.tif", 5, "lossy-page1-20px-Scan.tif.jpg"),
        ("Scan.tif", None, "lossy-page1-960px-Scan.tif.jpg"),
    ):
        thumbnail = thumbnail_url(f"{COMMONS}/a/ab/{name}", 960, original_width)
        assert thumbnail == f"{COMMONS}/thumb/a/ab/{name}/{rendition}"


def test_the_title_of_an_images_file() -> None:
    expected = {
        f"{COMMONS}/a/ab/Barn_owl_%28Tyto%29.jpg": "File:Barn owl (Tyto).jpg",
        f"{COMMONS}/thumb/a/ab/A_b.jpg/960px-A_b.jpg?utm_source=x": "File:A b.jpg",
        f"{COMMONS}/thumb/a/ab/{LONG}/500px-thumbnail.jpg": f"File:{'é' * 79}.jpg",
        "//upload.wikimedia.org/wikipedia/commons/a/ab/M%C3%BC.svg": "File:Mü.svg",
        f"{THUMBNAILS}/en/thumb/a/ab/X.svg/20px-X.svg.png": "File:X.svg",
        "https://example.org/wikipedia/commons/a/ab/Name.jpg": None,
        "http://[x/Name.jpg": None,
    }
    assert {url: file_title(url) for url in expected} == expected
