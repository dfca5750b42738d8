"""Items of a benchmark: the data that is asked and judged.

Built and imported benchmarks have the same form.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ReferenceKind = Literal["answer", "key", "caption", "focus"]
"""An answer to compare with; the letter of the right choice; a caption that a judge reads in place of
the images; what a judge should look at."""


@dataclass(frozen=True)
class Turn:
    """One user turn: its text, the images that enter with it (1-based), its references by kind.

    A reference that a split holds out is absent. `given` is the assistant's turn where the benchmark
    sets it: it is put into the dialogue, and no model is asked.
    """

    turn: int
    question: str
    image_positions: tuple[int, ...] = ()
    references: Mapping[ReferenceKind, str] = field(default_factory=dict)
    given: str | None = None

    @property
    def reference(self) -> str | None:
        """The reference answer; None where there is none."""
        return self.references.get("answer")


@dataclass(frozen=True)
class Item:
    """One item of a release; `image_ids` in order of position, `choices` in order of letter.

    `group_id` names what belongs together, such as the rewrites of one question. `labels` are what
    scores are split by: category, task, ability. `language` is that of its texts, None if not known.
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
        """What is drawn as a whole when intervals are made: the group, else the item."""
        return self.group_id or self.item_id
