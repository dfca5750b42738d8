"""MMIU retrieval tasks: samples from captions, clusters and categories of images (MMIU, A.2)."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

from methods.ids import content_id
from methods.mmiu.converting import UnusableSampleError, n_choices
from methods.mmiu.derived.drawing import EditableImages, SampledEntry, others
from methods.mmiu.metadata import Sample, TaskInfo
from methods.prompts.messages import IMAGE_HERE

MOST_IMAGES = 4
"""The most images of a question that asks for their common title."""

BY_TEXT = TaskInfo(
    "text2image-retrieval",
    "A text describes one of the candidate images. Find it.",
    "image",
)
BY_IMAGE = TaskInfo(
    "image2image-retrieval",
    "The first image is the query, the others are candidates. Find the one that shows a subject of the "
    "same kind.",
    "image",
)
TITLE = TaskInfo(
    "multiple-image-captioning",
    "Several images are given. Find the title that fits all of them.",
    "text",
)


def text_to_image(
    subject: SampledEntry, subjects: Sequence[SampledEntry], pictures: EditableImages, seed: int
) -> Sample:
    """Make a sample that retrieves the image of a caption among images of other titles and captions.

    `other_word` is a caption that fits none of the candidates, from an entry of another cluster. With
    it the question becomes unanswerable.
    """
    _require_plain(subject.caption)
    texts = {subject.title, subject.caption}
    n_wrong = n_choices(BY_TEXT.name) - 1

    def another(entry: SampledEntry) -> bool:
        return not texts & {entry.title, entry.caption} and IMAGE_HERE not in entry.caption

    (absent,) = others(
        subject,
        subjects,
        1,
        lambda other: another(other) and other.cluster_id != subject.cluster_id,
        "absent",
        seed,
    )
    texts |= {absent.title, absent.caption}
    wrong = others(
        subject,
        subjects,
        n_wrong,
        lambda other: another(other) and other.image_id != absent.image_id,
        "candidates",
        seed,
    )
    return Sample(
        BY_TEXT,
        subject.page_url,
        (),
        BY_TEXT.description,
        f'Which image does the text "{subject.caption}" describe?',
        subject.image_id,
        tuple(other.image_id for other in wrong),
        tuple(
            other.image_id
            for other in subjects
            if {other.title, other.caption} & {subject.title, subject.caption}
            and other.image_id != subject.image_id
        ),
        key_word=subject.caption,
        other_word=absent.caption,
    )


def image_to_image(
    subject: SampledEntry, subjects: Sequence[SampledEntry], pictures: EditableImages, seed: int
) -> Sample:
    """Make a sample that retrieves an image of the entry's cluster among images of clusters without a
    common category.
    """
    (relative,) = others(
        subject,
        subjects,
        1,
        lambda other: other.cluster_id == subject.cluster_id,
        "relative",
        seed,
    )
    own = {*subject.categories, *relative.categories}
    wrong = others(
        subject,
        subjects,
        n_choices(BY_IMAGE.name) - 1,
        lambda other: other.cluster_id != subject.cluster_id and not own & {*other.categories},
        "strangers",
        seed,
    )
    return Sample(
        BY_IMAGE,
        subject.page_url,
        (subject.image_id,),
        BY_IMAGE.description,
        "Which image shows a subject of the same kind as Image 1?",
        relative.image_id,
        tuple(other.image_id for other in wrong),
    )


def shared_title(
    subject: SampledEntry, subjects: Sequence[SampledEntry], pictures: EditableImages, seed: int
) -> Sample:
    """Make a sample that asks for the rarest category which the pages of two to four images share.

    The images are from one cluster. Other shared categories are right, too.
    """
    draw = partial(content_id, "title", seed, subject.entry_id)
    mates = [other for other in subjects if other.cluster_id == subject.cluster_id]
    shown = [subject]
    for mate in sorted(mates, key=lambda mate: draw(mate.entry_id)):
        image_ids = {mate.image_id for mate in shown}
        if len(shown) < MOST_IMAGES and mate.image_id not in image_ids:
            shown.append(mate)
    shared = set.intersection(*({*mate.categories} for mate in shown))
    if len(shown) < 2 or not shared:
        raise UnusableSampleError(
            "no_shared_category", "Its page shares no category with a picture's page."
        )
    uses = Counter(name for other in subjects for name in other.categories)
    title, *broader = sorted(shared, key=lambda name: (uses[name], name))
    _require_plain(title)
    return Sample(
        TITLE,
        subject.page_url,
        tuple(mate.image_id for mate in shown),
        TITLE.description,
        "Which title fits all of these images?",
        title,
        also_right=tuple(broader),
    )


def _require_plain(text: str) -> None:
    if IMAGE_HERE in text:
        raise UnusableSampleError("image_token", f"Its text has {IMAGE_HERE}.")
