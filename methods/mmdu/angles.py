"""Angles that questions are asked from, and which question has which (MMDU, B.2).

The paper's prompt names perspectives (description, comparison, culture and history, emotion, symbols,
actions, relations) and leaves the choice to the model. Here each question is given one by seed, so that
the mix is known and no angle is asked for more often than another. What belongs here: the list, which
is the project's own, and the assignment.
"""

from collections.abc import Sequence
from typing import NamedTuple

from methods.ids import content_id


class Angle(NamedTuple):
    """What a question is after: a name to count by, and the words that a writer is told."""

    name: str
    says: str


ON_ONE = (
    Angle("content", "what is shown, from the foreground to the background"),
    Angle("colour and light", "colours and light, and what they do to what is shown"),
    Angle("composition", "how the picture is arranged, and where it leads the eye"),
    Angle("detail", "a detail that is easily missed, and what it tells"),
    Angle("action", "what is happening, or was just before"),
    Angle("place and time", "where and when it may be, and what in the picture tells it"),
    Angle("purpose", "what a thing shown is for, how it works or how it was made"),
    Angle("material", "what things are made of, and in what state they are"),
    Angle("mood", "the mood, and what in the picture makes it"),
    Angle("meaning", "what something shown stands for in a culture or a history"),
    Angle("relation", "how things or people in the picture stand to each other"),
    Angle("change", "what would be different if one thing in the picture were changed"),
)
"""Angles of questions about one picture."""

ON_SEVERAL = (
    Angle("shared", "what the pictures share"),
    Angle("difference", "in what the pictures differ"),
    Angle("order", "an order of the pictures by something that can be seen"),
    Angle("odd one", "which picture fits least with the others, and why"),
    Angle("colour and light", "colours and light across the pictures"),
    Angle("composition", "how differently the pictures are arranged"),
    Angle("place and time", "places and times of the pictures, compared"),
    Angle("purpose", "what the things shown are for, compared"),
    Angle("making", "how the things shown were made, and of what, compared"),
    Angle("mood", "moods of the pictures, and what makes them differ"),
    Angle("meaning", "what the things shown mean in a culture or a history, compared"),
    Angle("cause", "how what one picture shows could lead to what another shows"),
    Angle(
        "people and nature", "what the pictures tell of how people use or shape what is around them"
    ),
    Angle("story", "a story, a tour or an exhibition that needs all of the pictures"),
    Angle("advice", "a choice among what is shown, for a purpose, with reasons that can be seen"),
)
"""Angles of questions about several pictures together."""


def assigned(angles: Sequence[Angle], n: int, seed: int, *of: object) -> list[Angle]:
    """The angles of `n` questions about `of`: all in an order drawn by seed before one comes again."""
    taken: list[Angle] = []
    while len(taken) < n:
        again = len(taken) // len(angles)
        taken += sorted(angles, key=lambda angle: content_id("angle", seed, *of, again, angle.name))
    return taken[:n]
