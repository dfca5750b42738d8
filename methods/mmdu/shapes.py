"""How many questions a dialogue has, on what, and which images enter with them (MMDU, 2.2, Table 1).

What belongs here: numbers drawn by seed for a set of images. Which set has which kind, and what is
asked, is not decided here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from methods.ids import content_id

Between = tuple[int, int]
"""The least and the most of a number that is drawn, each as likely as the other."""


class Together(NamedTuple):
    """Questions about images together: 1 to `until` of the set, of which `n_earlier` are known."""

    until: int
    n_earlier: int
    n_questions: int


@dataclass(frozen=True)
class Shape:
    """Questions on each image, in order of position, and on images together, in order of entry."""

    singles: tuple[int, ...]
    together: tuple[Together, ...]

    @property
    def n_turns(self) -> int:
        """Turns of a dialogue that loses none of them."""
        return sum(self.singles) + sum(each.n_questions for each in self.together)


def drawn(between: Between, *of: object) -> int:
    """A number between the two, both included, that depends on `of` alone."""
    least, most = between
    return least + int(content_id("number", *of), 16) % (most - least + 1)


def shape_of(
    n_images: int,
    per_image: Between,
    per_set: Between,
    most_turns: int,
    seed: int,
    set_id: str,
    enter_together: Between | None = None,
) -> Shape:
    """The questions for one set of `n_images` images (at least two).

    Where they are more than `most_turns`, questions on single images are left out, of images drawn by
    seed: a dialogue is about images together. With `enter_together` images enter over several turns
    (MMDU, Figure 10): so many at a time, two at least at first, each time with a question of their own.
    """
    n_together = min(drawn(per_set, "set", seed, set_id), most_turns)
    places = range(1, n_images + 1)
    singles = {place: drawn(per_image, "image", seed, set_id, place) for place in places}
    by_draw = sorted(places, key=lambda place: content_id("left out", seed, set_id, place))
    while sum(singles.values()) > most_turns - n_together:
        fullest = max(singles.values())
        singles[next(place for place in by_draw if singles[place] == fullest)] -= 1
    ends = _ends(n_images, enter_together, n_together, seed, set_id)
    n_each, n_more = divmod(n_together, len(ends))
    return Shape(
        tuple(singles.values()),
        tuple(
            Together(until, n_earlier, n_each + (group < n_more))
            for group, (n_earlier, until) in enumerate(zip([0, *ends], ends, strict=False))
        ),
    )


def _ends(
    n_images: int, enter_together: Between | None, most: int, seed: int, set_id: str
) -> Sequence[int]:
    """How many images have entered after each entry, which are `most` at most."""
    if enter_together is None:
        return [n_images]
    ends: list[int] = []
    while (entered := ends[-1] if ends else 0) < n_images:
        new = drawn(enter_together, "entry", seed, set_id, len(ends))
        last = len(ends) == most - 1
        ends.append(n_images if last else min(n_images, max(2, entered + new)))
    return ends
