"""MMIU tasks on image quality and differences: samples of images with known changes (MMIU, A.2)."""

from collections.abc import Sequence
from functools import partial

from PIL import ImageEnhance, ImageFilter

from methods.ids import content_id
from methods.mmiu.converting import UnusableSampleError
from methods.mmiu.derived import drawing
from methods.mmiu.derived.drawing import EditableImages, SampledEntry, others, seeded_index
from methods.mmiu.metadata import Sample, TaskInfo

LESS_DETAIL = 0.5
"""Each blurred version keeps at most this share of the detail (`drawing.detail`) of the previous one.
Otherwise the difference is not visible. Chosen by hand."""
MOST_DIFFERENCES = 6
COPY_ALIKE = 25.0
"""Mean difference, 0 to 255, below which two images could pass for versions of one. Chosen by hand."""

QUALITY = TaskInfo(
    "visual-quality-assessment",
    "Versions of one picture differ in their quality. Compare them.",
    "image",
)
SPOT = TaskInfo("spot-the-diff", "Two images differ in some places. Count them.", "number")
SIMILARITY = TaskInfo(
    "spot-the-similarity",
    "Two images are given. Find out whether they are versions of one picture, such as a part of it, "
    "a brighter or a mirrored one.",
    "yes/no",
)


def quality(
    subject: SampledEntry, subjects: Sequence[SampledEntry], pictures: EditableImages, seed: int
) -> Sample:
    """Make a sample on image quality: the image, and two versions with increasing blur or noise."""
    before = drawing.fitted(pictures.open(subject.image_id))
    sharp = seeded_index(seed, subject, QUALITY.name, 2) == 0
    if sharp:
        worse = [before.filter(ImageFilter.GaussianBlur(radius)) for radius in (3, 8)]
        details = [drawing.detail(picture) for picture in (before, *worse)]
        if details[1] > LESS_DETAIL * details[0] or details[2] > LESS_DETAIL * details[1]:
            raise UnusableSampleError(
                "too_plain", "The picture is too plain to tell how sharp it is."
            )
        changes = ["blurred over 3 pixels", "blurred over 8 pixels"]
    else:
        worse = [drawing.noisy(before, level, seed) for level in (30, 70)]
        changes = ["with noise of 30 levels", "with noise of 70 levels"]
    best = pictures.keep(before, [subject.image_id], "made smaller")
    others_ids = [
        pictures.keep(picture, [subject.image_id], f"made smaller, {change}")
        for picture, change in zip(worse, changes, strict=True)
    ]
    property_asked = "is the sharpest" if sharp else "has the least noise"
    return Sample(
        QUALITY,
        subject.page_url,
        (),
        QUALITY.description,
        f"Which image {property_asked}?",
        best,
        tuple(others_ids),
    )


def spot_the_difference(
    subject: SampledEntry, subjects: Sequence[SampledEntry], pictures: EditableImages, seed: int
) -> Sample:
    """Make a sample of the image and a version with one to six recoloured patches."""
    before = drawing.fitted(pictures.open(subject.image_id))
    n_differences = 1 + seeded_index(seed, subject, SPOT.name, MOST_DIFFERENCES)
    cells = sorted(range(12), key=partial(content_id, "cells", seed, subject.entry_id))
    after = drawing.altered(before, cells[:n_differences])
    return Sample(
        SPOT,
        subject.page_url,
        (
            pictures.keep(before, [subject.image_id], "made smaller"),
            pictures.keep(
                after, [subject.image_id], f"made smaller, {n_differences} patches changed"
            ),
        ),
        SPOT.description,
        "How many differences are there between the two images?",
        str(n_differences),
    )


def similarity(
    subject: SampledEntry, subjects: Sequence[SampledEntry], pictures: EditableImages, seed: int
) -> Sample:
    """Make a sample of the image and either a version of it or a different image, equally often."""
    before = drawing.fitted(pictures.open(subject.image_id))
    kinds = ("mirrored", "a part of it", "brighter")
    way = seeded_index(seed, subject, SIMILARITY.name, 2 * len(kinds))
    made_from = [subject.image_id]
    if way < len(kinds):
        change = kinds[way]
        other = {
            "mirrored": before.transpose(drawing.TURNS["mirrored left to right"]),
            "a part of it": drawing.cropped(before, 0.85),
            "brighter": ImageEnhance.Brightness(before).enhance(1.3),
        }[change]
    else:
        (another,) = others(
            subject,
            subjects,
            1,
            lambda other: other.cluster_id != subject.cluster_id,
            "similarity",
            seed,
        )
        made_from, change = [another.image_id], "made smaller"
        other = drawing.fitted(pictures.open(another.image_id))
        if drawing.difference(before, other) < COPY_ALIKE:
            raise UnusableSampleError("pictures_alike", "The two pictures look alike.")
    return Sample(
        SIMILARITY,
        subject.page_url,
        (
            pictures.keep(before, [subject.image_id], "made smaller"),
            pictures.keep(other, made_from, change),
        ),
        SIMILARITY.description,
        "Are the two images versions of one picture?",
        "Yes" if way < len(kinds) else "No",
    )
