"""MMIU tasks on two-dimensional relations: samples of images with known transforms (MMIU, A.2)."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations, permutations
from math import cos, radians, sin

from methods.ids import content_id
from methods.mmiu.converting import UnusableSampleError
from methods.mmiu.derived import drawing
from methods.mmiu.derived.drawing import EditableImages, SampledEntry, others, seeded_index
from methods.mmiu.metadata import Sample, TaskInfo

ALIKE = 10.0
"""Mean difference of two images, 0 to 255, below which they look the same. Chosen by hand."""

JIGSAW = TaskInfo(
    "jigsaw-puzzle-solving",
    "The quarters of a picture are given in another order. Find the order that restores it.",
    "order",
)
TRANSFORMATION = TaskInfo(
    "image-spatial-transformation-estimation",
    "Two images show a picture before and after it was transformed. Find the transformation.",
    "name",
)
HOMOGRAPHY = TaskInfo(
    "homography-estimation",
    "Two images show one plane. Find the 3x3 matrix that maps points of the first, as (x, y, 1) in "
    "pixels from the top left, to the second.",
    "name",
)
SPATIAL_TEXT = TaskInfo(
    "image-text-retrieval-with-spatial-context",
    "A text says where two pictures stand. Find the image that it describes.",
    "image",
)


def jigsaw(
    subject: SampledEntry, subjects: Sequence[SampledEntry], pictures: EditableImages, seed: int
) -> Sample:
    """Make a sample of the shuffled quarters of an image. Fails if two quarters look the same."""
    tiles = drawing.quarters(drawing.fitted(pictures.open(subject.image_id)))
    if min(drawing.difference(*pair) for pair in combinations(tiles, 2)) < ALIKE:
        raise UnusableSampleError("tiles_alike", "Two quarters of the picture look alike.")
    orders = list(permutations(range(4)))[1:]
    order = orders[seeded_index(seed, subject, JIGSAW.name, len(orders))]
    images = tuple(
        pictures.keep(tiles[place], [subject.image_id], f"quarter {place + 1} of 4")
        for place in order
    )
    return Sample(
        JIGSAW,
        subject.page_url,
        images,
        JIGSAW.description,
        "Which images make up the picture, from the top left to the bottom right, row by row?",
        ", ".join(str(order.index(place) + 1) for place in range(4)),
    )


def transformation(
    subject: SampledEntry, subjects: Sequence[SampledEntry], pictures: EditableImages, seed: int
) -> Sample:
    """Make a sample of the rotated or mirrored centre of an image. Fails if it is too symmetric."""
    before = drawing.framed(pictures.open(subject.image_id), 240, 240)
    after = {name: before.transpose(turn) for name, turn in drawing.TURNS.items()}
    if (
        min(drawing.difference(*pair) for pair in combinations((before, *after.values()), 2))
        < ALIKE
    ):
        raise UnusableSampleError(
            "symmetric", "The picture looks alike when it is turned or mirrored."
        )
    names = list(after)
    name = names[seeded_index(seed, subject, TRANSFORMATION.name, len(names))]
    return Sample(
        TRANSFORMATION,
        subject.page_url,
        (
            pictures.keep(before, [subject.image_id], "its middle"),
            pictures.keep(after[name], [subject.image_id], f"its middle, {name}"),
        ),
        TRANSFORMATION.description,
        "How was the first image transformed to get the second?",
        name,
        tuple(other for other in names if other != name),
    )


def homography(
    subject: SampledEntry, subjects: Sequence[SampledEntry], pictures: EditableImages, seed: int
) -> Sample:
    """Make a sample of an image under a random homography. The wrong choices are similar homographies.

    The inverse is not among them, because it would be right if the images were exchanged.
    """
    wide, high = 320, 240
    before = drawing.framed(pictures.open(subject.image_id), wide, high)
    draw = partial(content_id, "homography", seed, subject.entry_id)
    offered = sorted(_views(wide, high), key=draw)[:4]
    after = [drawing.warped(before, matrix) for matrix in offered]
    if min(drawing.difference(*pair) for pair in combinations(after, 2)) < ALIKE:
        raise UnusableSampleError(
            "too_plain", "The picture is too plain to tell homographies apart."
        )
    written = [_written(matrix) for matrix in offered]
    return Sample(
        HOMOGRAPHY,
        subject.page_url,
        (
            pictures.keep(before, [subject.image_id], "its middle"),
            pictures.keep(after[0], [subject.image_id], f"its middle under {written[0]}"),
        ),
        HOMOGRAPHY.description,
        "Which matrix maps the first image to the second?",
        written[0],
        tuple(written[1:]),
    )


def _views(wide: int, high: int) -> list[drawing.Matrix]:
    """Homographies around the middle of an image, which rotate, shrink and tilt it."""
    return [
        _view(wide, high, angle, scale, tilt)
        for angle in (-40, -20, 20, 40)
        for scale in (0.55, 0.8)
        for tilt in (-0.001, 0.001)
    ]


def _view(wide: int, high: int, angle: float, scale: float, tilt: float) -> drawing.Matrix:
    across, along = scale * cos(radians(angle)), scale * sin(radians(angle))
    x, y = wide / 2, high / 2
    # Points are moved so that the middle is the origin, rotated and tilted there, and moved back.
    bottom = (tilt, 0.0, 1 - tilt * x)
    top = (across, -along, -across * x + along * y)
    middle = (along, across, -along * x - across * y)
    rows = (
        tuple(t + x * b for t, b in zip(top, bottom, strict=True)),
        tuple(m + y * b for m, b in zip(middle, bottom, strict=True)),
        bottom,
    )
    digits = ((3, 3, 1), (3, 3, 1), (5, 5, 3))
    a, b, c = (
        tuple(round(value, n) for value, n in zip(row, places, strict=True))
        for row, places in zip(rows, digits, strict=True)
    )
    return ((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2]))


def _written(matrix: drawing.Matrix) -> str:
    return str([list(row) for row in matrix])


def spatial_text(
    subject: SampledEntry, subjects: Sequence[SampledEntry], pictures: EditableImages, seed: int
) -> Sample:
    """Make a sample of two images joined as a text says. The wrong choices have other positions or
    another image.

    `other_word` is a position of the first image that no choice shows with the second image. With it
    the question becomes unanswerable.
    """
    second, third = others(subject, subjects, 2, lambda other: True, "spatial", seed)
    tiles = [
        drawing.framed(pictures.open(entry.image_id), 160, 160)
        for entry in (subject, second, third)
    ]
    if min(drawing.difference(*pair) for pair in combinations(tiles, 2)) < ALIKE:
        raise UnusableSampleError("pictures_alike", "Two of the pictures look alike.")
    words = ("to the left of", "to the right of", "above", "below")
    first = seeded_index(seed, subject, SPATIAL_TEXT.name, len(words))
    right, other, *rest = words[first:] + words[:first]
    places = [(right, 1), *((word, 1) for word in rest), *((word, 2) for word in words)]
    entries = (subject, second, third)
    composed = []
    for word, place in places:
        pair = [tiles[0], tiles[place]]
        if word in ("to the right of", "below"):
            pair.reverse()
        picture = drawing.joined(*pair, side_by_side=word.startswith("to the"))
        made_from = [subject.image_id, entries[place].image_id]
        composed.append(pictures.keep(picture, made_from, f"the first {word} the second"))
    shown = [
        pictures.keep(tile, [entry.image_id], "its middle")
        for tile, entry in zip(tiles[:2], entries[:2], strict=True)
    ]
    return Sample(
        SPATIAL_TEXT,
        subject.page_url,
        tuple(shown),
        SPATIAL_TEXT.description,
        f"Which image has the picture of Image 1 {right} the picture of Image 2?",
        composed[0],
        tuple(composed[1:]),
        key_word=right,
        other_word=other,
    )
