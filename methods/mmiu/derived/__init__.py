"""MMIU samples that are derived from the entries of the corpus by rules, without a model.

Temporal and 3D tasks are not included, because images of an encyclopaedia have no known order in time
and no depth.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from methods.ids import content_id
from methods.mmiu.converting import UnusableSampleError
from methods.mmiu.derived.comparing import quality, similarity, spot_the_difference
from methods.mmiu.derived.drawing import EditableImages, SampledEntry
from methods.mmiu.derived.retrieval import image_to_image, shared_title, text_to_image
from methods.mmiu.derived.spatial import homography, jigsaw, spatial_text, transformation
from methods.mmiu.metadata import Sample

Derive = Callable[[SampledEntry, Sequence[SampledEntry], EditableImages, int], Sample]
"""A function that makes one sample of a task from an entry, all entries, the image store and a seed.

It raises `UnusableSampleError` with the reason if the entry is not suitable for the task.
"""

DERIVED: Mapping[str, Derive] = {
    "jigsaw-puzzle-solving": jigsaw,
    "text2image-retrieval": text_to_image,
    "visual-quality-assessment": quality,
    "image-spatial-transformation-estimation": transformation,
    "spot-the-diff": spot_the_difference,
    "multiple-image-captioning": shared_title,
    "image2image-retrieval": image_to_image,
    "image-text-retrieval-with-spatial-context": spatial_text,
    "spot-the-similarity": similarity,
    "homography-estimation": homography,
}
"""The function for each task, in the order in which tasks take turns."""


class DerivedSample(NamedTuple):
    """A sample of a task, or in `loss` the reason why the entry is not suitable for the task."""

    subject: SampledEntry
    task: str
    sample: Sample | None
    loss: UnusableSampleError | None = None


def derived(
    subjects: Sequence[SampledEntry],
    tasks: Sequence[str],
    n_samples: int,
    pictures: EditableImages,
    seed: int,
) -> Iterator[DerivedSample]:
    """Derive samples from entries, tasks taking turns.

    Each task has a different seeded order of the entries, so adding or removing an entry changes few
    samples, and a larger `n_samples` keeps the samples of a smaller one.

    Args:
        subjects: The entries.
        tasks: The tasks.
        n_samples: The number of samples; fewer if entries run out.
        pictures: Opens images, and stores changed ones.
        seed: The seed.

    Yields:
        Each sample, after the unsuitable entries that were tried before it.
    """
    queues = {task: _ordered(subjects, task, seed) for task in tasks}
    n_made = 0
    while n_made < n_samples and any(queues.values()):
        for task in tasks:
            while queues[task] and n_made < n_samples:
                subject = queues[task].pop(0)
                try:
                    sample = DERIVED[task](subject, subjects, pictures, seed)
                except UnusableSampleError as loss:
                    yield DerivedSample(subject, task, None, loss)
                    continue
                n_made += 1
                yield DerivedSample(subject, task, sample)
                break


def _ordered(subjects: Sequence[SampledEntry], task: str, seed: int) -> list[SampledEntry]:
    draw = partial(content_id, "derived", seed, task)
    return sorted(subjects, key=lambda subject: draw(subject.entry_id))
