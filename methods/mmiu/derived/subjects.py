"""What derived samples are made of: entries, and the pictures that are made of theirs.

What belongs here: both forms, and drawing other entries. How pictures are changed is `drawing.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from PIL import Image

from methods.ids import content_id
from methods.mmiu.converting import NoQuestion


@dataclass(frozen=True)
class Subject:
    """An entry that was drawn into an image set."""

    entry_id: str
    set_id: str
    cluster_id: str
    image_id: str
    title: str
    caption: str
    page_url: str
    categories: tuple[str, ...]


class Pictures(Protocol):
    """Where pictures are looked at, and kept once they are changed."""

    def open(self, image_id: str) -> Image.Image:
        """The picture, upright and RGB."""

    def keep(self, picture: Image.Image, made_from: Sequence[str], change: str) -> str:
        """The id of a picture made of others; `change` says what was done to them."""


def others(
    subject: Subject,
    subjects: Sequence[Subject],
    n_subjects: int,
    fits: Callable[[Subject], bool],
    *seed: object,
) -> list[Subject]:
    """Other entries with other pictures that `fits`, drawn by seed. Raises NoQuestion for fewer."""
    draw = partial(content_id, *seed, subject.entry_id)
    known = {subject.image_id}
    found: list[Subject] = []
    for each in sorted(subjects, key=lambda each: draw(each.entry_id)):
        if len(found) < n_subjects and each.image_id not in known and fits(each):
            known.add(each.image_id)
            found.append(each)
    if len(found) < n_subjects:
        raise NoQuestion(
            "too_few_entries", f"There are {len(found)} other entries instead of {n_subjects}."
        )
    return found


def drawn(seed: int, subject: Subject, task: str, n_values: int) -> int:
    """A number from 0 to n_values - 1, by seed, entry and task."""
    return int(content_id("drawn", seed, task, subject.entry_id), 16) % n_values
