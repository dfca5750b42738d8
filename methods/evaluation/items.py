"""Items of a benchmark: the data that is asked and judged.

Built and imported benchmarks have items of the same format.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ReferenceKind = Literal["answer", "key", "caption", "focus"]
"""`answer`: an answer to compare with; `key`: the letter of the right choice; `caption`: a text that a
judge reads in place of the images; `focus`: points that a judge should look at."""


@dataclass(frozen=True)
class Turn:
    """One user turn: its text, the images that enter with it (1-based), its references by kind.

    A reference is absent if its split holds it out. `given` is the assistant's turn if the benchmark
    sets it: it is put into the dialogue, and no model is asked.
    """

    turn: int
    question: str
    image_positions: tuple[int, ...] = ()
    references: Mapping[ReferenceKind, str] = field(default_factory=dict)
    given: str | None = None

    @property
    def reference(self) -> str | None:
        """The reference answer, or None."""
        return self.references.get("answer")


@dataclass(frozen=True)
class Item:
    """One item of a release.

    Attributes:
        image_ids: The images in order of position.
        choices: The choices in order of letter.
        group_id: The group of related items, such as rewrites of one question.
        labels: The labels by which scores are split: category, task, ability.
        language: The language of the texts; None if unknown.
    """

    item_id: str
    turns: tuple[Turn, ...]
    image_ids: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    group_id: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None

    @property
    def cluster(self) -> str:
        """The unit of resampling for intervals: the group, else the item."""
        return self.group_id or self.item_id
