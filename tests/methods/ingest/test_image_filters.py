"""Which images are unwanted: each limit at its edge, and the lists of those that must stay out."""

import dataclasses
import hashlib

import pytest

from methods.ingest.image_check import ImageRejected
from methods.ingest.image_filters import UNWANTED, ImageLimits, parse_exclusions, reject_unwanted
from methods.ingest.image_quality import ImageFacts

MD5 = hashlib.md5(b"picture").hexdigest()
SHA256 = hashlib.sha256(b"picture").hexdigest()
FACTS = ImageFacts(
    image_id=SHA256,
    md5=MD5,
    mime_type="image/gif",
    mode="P",
    animated=True,
    rotated=False,
    width=300,
    height=200,
    n_bytes=7,
    aspect=1.5,
    blur=80.0,
    entropy=4.5,
    brightness=100.0,
    phash="c" * 16,
    contrast=180,
    visible=0.75,
)
DEFAULTS = ("max_aspect", "min_side", "min_visible", "min_contrast", "min_entropy", "min_blur")
NO_LIMITS = ImageLimits(**dict.fromkeys(DEFAULTS))


def refused(limits: ImageLimits, facts: ImageFacts = FACTS, excluded=None) -> ImageRejected:
    with pytest.raises(ImageRejected) as caught:
        reject_unwanted(facts, limits, excluded or {})
    return caught.value


def test_without_limits_every_image_is_wanted():
    nothing = {"width": 1, "height": 900, "contrast": 0, "entropy": 0, "blur": 0, "visible": 0}
    reject_unwanted(dataclasses.replace(FACTS, **nothing), NO_LIMITS, {})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"width": 1, "height": 1}, "too_small"),
        ({"width": 30_000, "height": 10}, "too_long"),
        ({"width": 200, "height": 1200}, "too_long"),
        ({"visible": 0.0}, "transparent"),
        ({"contrast": 0, "entropy": 0.0, "blur": 0.0}, "blank"),
        ({"contrast": 8, "entropy": 0.7, "blur": 4.8}, "faint"),
        ({"entropy": 0.1}, "flat"),
        ({"blur": 0.4}, "blurred"),
        ({"brightness": 1.8}, None),
        ({"brightness": 254.0}, None),
    ],
)
def test_by_default_what_nobody_can_be_asked_about_is_left_out(changes, reason):
    facts = dataclasses.replace(FACTS, **changes)
    if reason is None:
        reject_unwanted(facts, ImageLimits(), {})
    else:
        assert refused(ImageLimits(), facts).reason == reason


# The shorter side is 200, the longer over the shorter 300 / 200 = 1.5.
EDGES = [
    ("too_long", "max_aspect", 1.5, 1.4),
    ("too_small", "min_side", 200, 201),
    ("transparent", "min_visible", 0.75, 0.76),
    ("faint", "min_contrast", 180, 181),
    ("flat", "min_entropy", 4.5, 4.6),
    ("blurred", "min_blur", 80.0, 80.5),
    ("too_dark", "min_brightness", 100.0, 100.1),
    ("too_bright", "max_brightness", 100.0, 99.9),
    # 0 is not None: nothing but black is as dark as that.
    ("too_bright", "max_brightness", None, 0),
]


@pytest.mark.parametrize(("reason", "limit", "kept", "broken"), EDGES)
def test_a_figure_at_its_limit_passes_and_one_beyond_is_refused(reason, limit, kept, broken):
    reject_unwanted(FACTS, ImageLimits(**{limit: kept}), {})
    assert refused(ImageLimits(**{limit: broken})).reason == reason


def test_the_sides_are_judged_whichever_way_the_picture_stands():
    upright = dataclasses.replace(FACTS, width=200, height=300, aspect=200 / 300)
    assert refused(ImageLimits(max_aspect=1.4), upright).reason == "too_long"
    assert refused(ImageLimits(min_side=201), upright).reason == "too_small"
    reject_unwanted(upright, ImageLimits(max_aspect=1.5, min_side=200), {})
    # Moving pictures may be kept out.
    assert refused(ImageLimits(animated=False)).reason == "animated"
    reject_unwanted(dataclasses.replace(FACTS, animated=False), ImageLimits(animated=False), {})


def test_the_detail_tells_the_figure_and_the_limit():
    small = refused(ImageLimits(min_side=336)).detail
    assert small == "The shorter side in pixels is 200, below the limit of 336."
    long = refused(ImageLimits(max_aspect=1.25)).detail
    assert long == "The longer side over the shorter is 1.5, above the limit of 1.25."


def test_the_first_reason_is_the_one_that_is_told():
    limits = ImageLimits(**{limit: broken for _, limit, _, broken in EDGES}, animated=False)
    told = [refused(limits, excluded={MD5: "list"}).reason, refused(limits).reason]
    for field in dataclasses.fields(limits)[:-1]:
        limits = dataclasses.replace(limits, **{field.name: None})
        told.append(refused(limits).reason)
    assert told == ["excluded", *[edge[0] for edge in EDGES[:-1]], "animated"]
    assert told == [reason for reason in UNWANTED if reason != "blank"]


@pytest.mark.parametrize("digest", [MD5, SHA256])
def test_an_image_of_a_list_is_refused_by_either_digest(digest):
    rejected = refused(ImageLimits(), excluded={digest: "COCO val2017"})
    assert rejected.reason == "excluded"
    assert rejected.detail == f"The image, {digest}, is on the list 'COCO val2017'."
    assert refused(ImageLimits(), excluded={digest: ""}).reason == "excluded"
    reject_unwanted(FACTS, ImageLimits(), {"0" * 32: "COCO val2017"})


@pytest.mark.parametrize(
    "line",
    ["{}", "{}\n", "  {}  ", "{}  images/139.jpg", "{} *images/139.jpg", "\\{}  a\\nname"]
    + ["{}\tname with spaces.png\r\n", "{}  # of the second batch"],
)
@pytest.mark.parametrize("digest", [MD5, SHA256, MD5.upper(), SHA256.upper()])
def test_each_way_a_digest_is_written(line, digest):
    assert parse_exclusions([line.format(digest)], "val") == {digest.lower(): "val"}


def test_blank_lines_and_comments_say_nothing():
    lines = ["# md5sum of val2017", "", f"{MD5}  a.jpg", "   \n", "  # done", f"{MD5}  b.jpg"]
    assert parse_exclusions(lines, "val") == {MD5: "val"}
    assert parse_exclusions([], "val") == {}


@pytest.mark.parametrize(
    "line",
    ["images/a.jpg", MD5[:-1], MD5 + "0", SHA256 + "0", hashlib.sha1(b"").hexdigest()]
    + ["g" + MD5[1:], f"MD5 (a.jpg) = {MD5}", f"a.jpg {MD5}", f"{MD5},a.jpg"]
    + ["\N{FULLWIDTH DIGIT ONE}" * 32],
)
def test_any_other_line_is_an_error_that_names_it(line):
    with pytest.raises(ValueError, match=r"^Line 3 of the list 'val' begins with no .*\.$"):
        parse_exclusions(["# list", MD5, line], "val")
