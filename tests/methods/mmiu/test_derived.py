"""Samples made of entries: what is right follows from how they were made, and growth changes little."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from methods.mmiu.converting import form_of, n_choices, question_of, wrong_choices
from methods.mmiu.derived import DERIVED, derived
from methods.mmiu.derived import drawing as draw
from methods.mmiu.derived.drawing import SampledEntry
from methods.mmiu.metadata import Sample
from tests.methods.refusals import reason_of


class Shelf:
    """Pictures in memory; the ones of entries have coloured noise, or one colour where `plain`."""

    def __init__(self, plain: Collection[str] = ()) -> None:
        self.kept: dict[str, tuple[Image.Image, tuple[str, ...], str]] = {}
        self._plain = plain

    def open(self, image_id: str) -> Image.Image:
        if image_id in self.kept:
            return self.kept[image_id][0]
        if image_id in self._plain:
            return Image.new("RGB", (200, 160), "navy")
        noise = np.random.default_rng(int(image_id[1:])).integers(0, 256, (8, 10, 3), np.uint8)
        return Image.fromarray(noise).resize((200, 160), Image.Resampling.NEAREST)

    def keep(self, picture: Image.Image, made_from: Sequence[str], change: str) -> str:
        image_id = hashlib.sha256(picture.tobytes() + repr(picture.size).encode()).hexdigest()
        self.kept.setdefault(image_id, (picture, tuple(made_from), change))
        return image_id


SUBJECTS = [
    SampledEntry(
        *(f"e{number}", f"set {number // 3}", f"c{number // 3}", f"i{number}", f"Title {number}"),
        *(f"A picture of thing {number}", f"https://example.org/{number}"),
        (f"Wide {number // 6}", f"Kind {number // 3}", f"Only {number}"),
        "en",
    )
    for number in range(12)
]
"""Three entries a cluster."""


def made(task: str, number: int = 0, seed: int = 0) -> tuple[Sample, Shelf]:
    shelf = Shelf()
    return DERIVED[task](SUBJECTS[number], SUBJECTS, shelf, seed), shelf


@pytest.mark.parametrize("task", DERIVED)
def test_a_sample_has_its_task_its_page_and_enough_wrong_choices(task: str) -> None:
    for number in range(6):
        sample, shelf = made(task, number)
        assert sample.task.name == task and sample.task.description == sample.context
        assert sample.source == SUBJECTS[number].page_url
        assert sample.output not in sample.wrong and sample.key_word in sample.question
        form = form_of(sample, [sample.output])
        if form != "text":
            wrong = wrong_choices(sample, form, [sample.output], 0)
            assert len(wrong) == n_choices(task) - 1
            assert question_of(sample, wrong).of_images == (form == "image")
        images = {*sample.images, *(sample.wrong if form == "image" else ())}
        assert all(image in shelf.kept or image.startswith("i") for image in images)
        assert made(task, number)[0] == sample


def test_the_order_of_a_jigsaw_restores_its_picture() -> None:
    for number in range(6):
        sample, shelf = made("jigsaw-puzzle-solving", number)
        tiles = [shelf.open(sample.images[int(place) - 1]) for place in sample.output.split(", ")]
        rows = [
            draw.joined(tiles[at], tiles[at + 1], side_by_side=True).convert("RGB") for at in (0, 2)
        ]
        whole = draw.joined(*rows, side_by_side=False)
        assert np.array_equal(whole, draw.fitted(shelf.open(f"i{number}")))
        assert sample.output != "1, 2, 3, 4"


def test_the_transformation_makes_the_second_image_of_the_first() -> None:
    seen = set()
    for number in range(12):
        sample, shelf = made("image-spatial-transformation-estimation", number)
        before, after = map(shelf.open, sample.images)
        assert np.array_equal(before.transpose(draw.TURNS[sample.output]), after)
        for other in sample.wrong:
            assert not np.array_equal(before.transpose(draw.TURNS[other]), after)
        seen.add(sample.output)
    assert len(seen) >= 4


def test_words_for_transformations_are_what_they_say() -> None:
    picture = Image.fromarray(np.arange(12, dtype=np.uint8).reshape(2, 2, 3))
    (a, b), (c, d) = np.asarray(picture)

    expected = {
        "rotated by 90 degrees clockwise": [[c, a], [d, b]],
        "rotated by 90 degrees counter-clockwise": [[b, d], [a, c]],
        "rotated by 180 degrees": [[d, c], [b, a]],
        "mirrored left to right": [[b, a], [d, c]],
        "mirrored top to bottom": [[c, d], [a, b]],
    }
    for name, grid in expected.items():
        assert np.array_equal(picture.transpose(draw.TURNS[name]), grid)


def test_the_homography_makes_the_second_image_and_no_wrong_one_does_or_is_its_inverse() -> None:
    for number in range(6):
        sample, shelf = made("homography-estimation", number)
        before, after = map(shelf.open, sample.images)
        matrices = [json.loads(text) for text in (sample.output, *sample.wrong)]
        assert np.array_equal(draw.warped(before, matrices[0]), after)
        for wrong in matrices[1:]:
            assert draw.difference(draw.warped(before, wrong), after) > 10
            product = np.array(wrong) @ np.array(matrices[0])
            assert not np.allclose(product / product[2, 2], np.eye(3), atol=0.05)


def test_a_homography_maps_points_as_it_says() -> None:
    dot = Image.new("RGB", (60, 40))
    dot.putpixel((20, 10), (255, 255, 255))
    moved = np.asarray(draw.warped(dot, ((1, 0, 5), (0, 1, 7), (0, 0, 1))))
    assert np.unravel_index(moved[..., 0].argmax(), (40, 60)) == (17, 25)


def test_the_spatial_text_is_true_of_the_right_image_alone_and_its_other_word_of_none() -> None:
    for number in range(8):
        sample, shelf = made("image-text-retrieval-with-spatial-context", number)
        one, other = map(shelf.open, sample.images)

        def true_of(word: str, one=one, other=other, shelf=shelf, sample=sample) -> list[str]:
            """The candidates that show the two as the word says."""
            pair = (other, one) if word in ("to the right of", "below") else (one, other)
            due = draw.joined(*pair, side_by_side=word.startswith("to the"))
            return [
                image
                for image in (sample.output, *sample.wrong)
                if shelf.open(image).size == due.size and np.array_equal(shelf.open(image), due)
            ]

        assert true_of(sample.key_word) == [sample.output]
        assert true_of(sample.other_word) == []


def test_the_best_version_is_the_picture_itself_and_the_others_are_ever_worse() -> None:
    asked = set()
    for number in range(10):
        sample, shelf = made("visual-quality-assessment", number)
        versions = [*map(shelf.open, (sample.output, *sample.wrong))]
        assert np.array_equal(versions[0], draw.fitted(shelf.open(f"i{number}")))
        details = [*map(draw.detail, versions)]
        assert details == sorted(set(details), reverse="sharpest" in sample.question)
        asked.add(sample.question)
    assert len(asked) == 2


def test_as_many_places_differ_as_the_output_says() -> None:
    for number in range(10):
        sample, shelf = made("spot-the-diff", number)
        before, after = (np.asarray(shelf.open(image), int) for image in sample.images)
        differs = np.abs(before - after).max(axis=-1) > 0
        cells = [
            part.any() for row in np.array_split(differs, 3) for part in np.array_split(row, 4, 1)
        ]
        assert sum(cells) == int(sample.output)
        assert np.abs(before - after)[differs].min() == 128


def test_versions_of_a_picture_are_made_of_it_and_others_are_not() -> None:
    outputs = Counter()
    for number in range(12):
        sample, shelf = made("spot-the-similarity", number)
        (_, own, _), (_, other, _) = (shelf.kept[image] for image in sample.images)
        assert (own == other) == (sample.output == "Yes")
        outputs[sample.output] += 1
    assert min(outputs.values()) >= 3


def test_a_picture_with_the_same_caption_is_neither_a_candidate_nor_a_replacement() -> None:
    twin = replace(SUBJECTS[5], caption=SUBJECTS[0].caption)
    known = [*SUBJECTS[:5], twin, *SUBJECTS[6:]]
    for seed in range(10):
        sample = DERIVED["text2image-retrieval"](known[0], known, Shelf(), seed)
        assert "i5" not in sample.wrong and sample.also_right == ("i5",)


def test_a_relative_is_of_the_cluster_and_wrong_ones_share_no_category() -> None:
    sample, _ = made("image2image-retrieval")
    assert sample.output in ("i1", "i2")
    assert set(sample.wrong) <= {f"i{number}" for number in range(6, 12)}
    # With a category that all pages share, no picture is surely of another kind.
    known = [replace(each, categories=("All",)) for each in SUBJECTS]
    retrieval = DERIVED["image2image-retrieval"]
    assert reason_of(retrieval, known[0], known, Shelf(), 0) == "too_few_entries"


def test_a_title_is_the_rarest_category_of_all_its_pages() -> None:
    sample, _ = made("multiple-image-captioning", 4)
    assert sample.output == "Kind 1" and sample.also_right == ("Wide 0",)
    assert set(sample.images) == {"i3", "i4", "i5"} and sample.images[0] == "i4"


@pytest.mark.parametrize(
    ("task", "plain", "changed", "reason"),
    [
        ("jigsaw-puzzle-solving", ("i0",), {}, "tiles_alike"),
        ("image-spatial-transformation-estimation", ("i0",), {}, "symmetric"),
        ("homography-estimation", ("i0",), {}, "too_plain"),
        ("text2image-retrieval", (), {"caption": "See <ImageHere>"}, "image_token"),
        ("multiple-image-captioning", (), {"categories": ()}, "no_shared_category"),
        ("image2image-retrieval", (), {"cluster_id": "alone"}, "too_few_entries"),
    ],
)
def test_what_gives_no_question_is_refused_by_name(task, plain, changed, reason) -> None:
    odd = replace(SUBJECTS[0], **changed)
    assert reason_of(DERIVED[task], odd, [odd, *SUBJECTS[1:]], Shelf(plain), 0) == reason


TASKS_OF_PAGES = ("spot-the-diff", "multiple-image-captioning", "jigsaw-puzzle-solving")


def test_tasks_take_turns_more_samples_keep_those_that_there_are_and_losses_are_told() -> None:
    seven, ten, all_there_are = (
        [each.sample for each in derived(SUBJECTS, TASKS_OF_PAGES, n, Shelf(), 0) if each.sample]
        for n in (7, 10, 99)
    )
    counts = Counter(each.task.name for each in ten)
    assert counts == dict(zip(TASKS_OF_PAGES, (4, 3, 3), strict=True))
    assert ten[:7] == seven and len(all_there_are) == 36
    # Another entry takes the place of one without a question.
    shelf = Shelf([each.image_id for each in SUBJECTS])
    found = list(derived(SUBJECTS, ["jigsaw-puzzle-solving"], 3, shelf, 0))
    assert len(found) == 12 and all(each.sample is None for each in found)
    assert {each.loss.reason for each in found if each.loss} == {"tiles_alike"}


def test_a_frame_is_cut_out_of_the_middle_without_a_stretch() -> None:
    thirds = Image.new("RGB", (300, 100), "white")
    thirds.paste("red", (100, 0, 200, 100))
    for picture, size in ((thirds, (50, 50)), (thirds.rotate(90, expand=True), (40, 40))):
        assert draw.framed(picture, *size).getcolors() == [(size[0] * size[1], (255, 0, 0))]
