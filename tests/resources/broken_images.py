"""Broken images: as bytes, and as what a server makes of a request for one."""

import hashlib
import io
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
from PIL import Image

from methods.ingest.image_check import MAX_BYTES
from methods.ingest.image_filters import ImageLimits
from resources.images.fetcher import ImageFetcher
from resources.images.index import ImageIndex
from resources.images.intake import ImageIntake, ImageRejected, WantedImage
from resources.images.store import ImageStore
from tests.resources.broken_outcomes import Case, Outcome, Refused
from tests.resources.images.upload_double import (
    PICTURE,
    Answer,
    UploadDouble,
    busy,
    cut_short,
    html,
    ok,
    redirect,
    serving_uploads,
    silence,
    status,
    trickle,
)

WEB = "https://upload.example.org/"
DEFAULT_LIMITS = ImageLimits()


def outcome_of(
    folder: Path,
    fetcher: ImageFetcher,
    broken: WantedImage,
    sound: WantedImage,
    limits: ImageLimits = DEFAULT_LIMITS,
    excluded: dict[str, str] | None = None,
) -> Outcome:
    """What becomes of an image that is wanted together with a sound one."""
    with closing(ImageIndex(folder / "index.sqlite")) as index:
        store = ImageStore(folder / "store")
        intake = ImageIntake(fetcher, store, index, limits, excluded or {})
        taken = {image.url: result for image, result in intake.take([broken, sound])}
    assert not isinstance(taken[sound.url], ImageRejected)
    rejected = taken[broken.url]
    assert isinstance(rejected, ImageRejected)
    return Refused("image", "its URL", rejected.reason, rejected.detail)


def wanted(url: str) -> WantedImage:
    return WantedImage(url, url)


# --- Bytes ---------------------------------------------------------------------------------------


def of_bytes(
    data: bytes | None,
    excluded: dict[str, str] | None = None,
    shared_names: tuple[str, ...] = (),
    **limits: float,
) -> Callable[[Path], Outcome]:
    """A folder with these bytes under the image's name, None for no such file, beside a sound one."""

    def feed(folder: Path) -> Outcome:
        mirror = folder / "images"
        mirror.mkdir()
        (mirror / "sound.png").write_bytes(pattern())
        if data is not None:
            (mirror / "broken.png").write_bytes(data)
        return outcome_of(
            folder,
            ImageFetcher(mirror, shared_names=shared_names),
            wanted(WEB + "broken.png"),
            wanted(WEB + "sound.png"),
            ImageLimits(**limits),  # type: ignore[arg-type]
            excluded,
        )

    return feed


def of_place(make: Callable[[Path], object]) -> Callable[[Path], Outcome]:
    """A folder in which `make` makes what has the image's name."""

    def feed(folder: Path) -> Outcome:
        (folder / "elsewhere.png").write_bytes(PICTURE)
        mirror = folder / "images"
        mirror.mkdir()
        (mirror / "sound.png").write_bytes(pattern())
        make(mirror / "broken.png")
        sources = wanted(WEB + "broken.png"), wanted(WEB + "sound.png")
        return outcome_of(folder, ImageFetcher(mirror), *sources)

    return feed


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def with_scans(n_scans: int) -> bytes:
    """A progressive JPEG whose last scan is repeated."""
    image = saved(Image.new("L", (96, 64), 128), "JPEG", progressive=True)
    start, *scans = image[:-2].split(b"\xff\xda")
    scans += [scans[-1]] * (n_scans - len(scans))
    return b"\xff\xda".join([start, *scans]) + b"\xff\xd9"


def pattern(width: int = 128, height: int = 128, first: int = 0, step: int = 16) -> bytes:
    """Sixteen levels of grey, each equally often, in a pattern that nothing limits refuse."""
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    return saved(Image.fromarray((first + (7 * x + 13 * y) % 16 * step).astype(np.uint8)))


CHECKS = saved(Image.fromarray((np.indices((96, 96)).sum(axis=0) % 2 * 255).astype(np.uint8)))
FILM = saved(
    Image.open(io.BytesIO(pattern())),
    "GIF",
    save_all=True,
    append_images=[Image.open(io.BytesIO(pattern(step=8)))],
)
CLEAR = saved(Image.new("RGBA", (96, 96), (0, 90, 0, 0)))
PALE = saved(Image.linear_gradient("L").point(lambda level: 245 + level // 32))
DOT = Image.new("L", (200, 200))
DOT.paste(255, (90, 90, 93, 93))
MD5 = hashlib.md5(PICTURE).hexdigest()
BYTES = [
    Case("No file of that name in the folder", of_bytes(None)),
    Case("A named pipe in the folder", of_place(os.mkfifo)),
    Case(
        "A symbolic link to a file outside the folder",
        of_place(lambda path: path.symlink_to("../elsewhere.png")),
    ),
    Case(
        "A file name that several image URLs of the corpus share",
        of_bytes(PICTURE, shared_names=("broken.png",)),
    ),
    Case("An empty file", of_bytes(b"")),
    Case("A file of more than 25 MB", of_bytes(bytes(MAX_BYTES + 1))),
    Case("A web page with the name of an image", of_bytes(b"<!doctype html><p>Sorry</p>")),
    Case("A TIFF", of_bytes(saved(Image.new("L", (8, 8)), "TIFF"))),
    Case("An SVG", of_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>")),
    Case("An image of 56 million pixels", of_bytes(saved(Image.new("1", (8000, 7000))))),
    Case("A JPEG of 101 scans", of_bytes(with_scans(101))),
    Case("A truncated image", of_bytes(PICTURE[: len(PICTURE) // 2])),
    Case("An image truncated in its header", of_bytes(PICTURE[:20])),
    Case("An image on a list in `images.exclude`", of_bytes(PICTURE, excluded={MD5: "coco.md5"})),
    Case("A film strip, above `max_aspect`", of_bytes(pattern(960, 96))),
    Case("30,000 by 10 pixels, above `max_aspect`", of_bytes(pattern(30_000, 10))),
    Case("One pixel, below `min_side`", of_bytes(pattern(1, 1))),
    Case("An image below a `min_side` of 100", of_bytes(pattern(128, 96), min_side=100)),
    Case("Fully transparent, below `min_visible`", of_bytes(CLEAR)),
    Case(
        "A single colour, below `min_contrast`",
        of_bytes(saved(Image.new("RGB", (96, 96), "brown"))),
    ),
    Case("Very faint, below `min_contrast`", of_bytes(PALE)),
    Case("A dot on black, below `min_entropy`", of_bytes(saved(DOT))),
    Case("A smooth gradient, below `min_blur`", of_bytes(saved(Image.linear_gradient("L")))),
    Case("A checkerboard, below a `min_entropy` of 2", of_bytes(CHECKS, min_entropy=2)),
    Case("A dark image, below `min_brightness`", of_bytes(pattern(step=2), min_brightness=20)),
    Case(
        "A bright image, above `max_brightness`",
        of_bytes(pattern(first=225, step=2), max_brightness=230),
    ),
    Case("An animated image where `animated` is false", of_bytes(FILM, animated=False)),
]

# --- Servers -------------------------------------------------------------------------------------

BACKOFF = 0.001


def of_server(
    *answers: Answer, at: str | None = None, **options: float
) -> Callable[[Path], Outcome]:
    """A server that gives these answers for the image, the last of them for good; or another URL."""

    def feed(folder: Path) -> Outcome:
        with serving_uploads() as uploads:
            fetcher = ImageFetcher(allow_private=True, backoff=BACKOFF, **options)  # type: ignore[arg-type]
            broken = at or uploads.serve("broken.png", *answers)
            return outcome_of(folder, fetcher, wanted(broken), sound_on(uploads))

    return feed


def sound_on(uploads: UploadDouble) -> WantedImage:
    return wanted(uploads.serve("sound.png", ok()))


def led_inside(folder: Path) -> Outcome:
    """A mirror may be anywhere, but nobody is led from it into the network it stands in."""
    with serving_uploads() as uploads, serving_uploads() as inside:
        uploads.serve("sound.png", ok())
        uploads.serve("broken.png", redirect(inside.serve("secret.png", ok())))
        fetcher = ImageFetcher(uploads.base, backoff=BACKOFF)
        outcome = outcome_of(folder, fetcher, wanted(WEB + "broken.png"), wanted(WEB + "sound.png"))
        assert inside.log == []
    return outcome


WIKIMEDIA = "https://upload.wikimedia.org/wikipedia/commons/a/ab/Owl.jpg"
SERVERS = [
    Case("404, 410", of_server(status(404))),
    Case("403, or another 4xx", of_server(status(403))),
    Case("500, or another 5xx, three times", of_server(status(500))),
    Case("503, three times", of_server(status(503))),
    Case("429 without `Retry-After`, six times", of_server(busy())),
    Case("429 with a `Retry-After` of one hour", of_server(busy(retry_after="3600"))),
    Case("A response that is too slow, three times", of_server(trickle(), timeout=0.6)),
    Case("A connection that closes early, three times", of_server(cut_short())),
    Case("No response, three times", of_server(silence)),
    Case("More bytes than the limit", of_server(ok(bytes(2_000)), max_bytes=1_999)),
    Case("A login page instead of the image", of_server(html())),
    Case("An endless redirect", of_server(redirect("broken.png"))),
    Case("A redirect to a `file://` URL", of_server(redirect("file:///etc/passwd"))),
    Case("A redirect to a private network", led_inside),
    Case("A host name that does not resolve", of_server(at="http://no-such-host.invalid/a.png")),
    Case("A redirect to an invalid URL", of_server(redirect("//owl:99999/a.png"))),
    Case("A Wikimedia URL without `wikipedia.contact`", of_server(at=WIKIMEDIA)),
]
