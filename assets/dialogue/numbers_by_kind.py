"""Settings that are numbers, fixed or drawn, for both kinds of dialogues or for each by itself.

What belongs here: their form in `settings.yaml`: `3`, `[2, 5]`, `{benchmark: [7, 15], instruction: 6}`.
Drawing is `methods/mmdu/shapes.py`.
"""

from typing import Annotated, get_args

from pydantic import AfterValidator, NonNegativeInt

from methods.image_sets import Kind
from methods.mmdu.shapes import Between

Drawn = NonNegativeInt | tuple[NonNegativeInt, NonNegativeInt]
KINDS: tuple[Kind, ...] = get_args(Kind)


def _usable(value: "Drawn | dict[Kind, Drawn]") -> "Drawn | dict[Kind, Drawn]":
    if isinstance(value, dict) and set(value) != set(KINDS):
        raise ValueError(f"give a number for each kind: {', '.join(KINDS)}")
    for kind in KINDS:
        least, most = between(value, kind)
        if most < least:
            raise ValueError(
                f"the least is {least} and the most {most}: give the smaller one first"
            )
    return value


def between(value: "Drawn | dict[Kind, Drawn]", kind: Kind) -> Between:
    """The least and the most of a number for one kind."""
    of_kind = value[kind] if isinstance(value, dict) else value
    return of_kind if isinstance(of_kind, tuple) else (of_kind, of_kind)


def at_least(least: int) -> AfterValidator:
    """No number of such a setting is smaller."""

    def check(value: "Drawn | dict[Kind, Drawn]") -> "Drawn | dict[Kind, Drawn]":
        for kind in KINDS:
            if between(value, kind)[0] < least:
                raise ValueError(f"a number here is {least} or more")
        return value

    return AfterValidator(check)


NumberByKind = Annotated[Drawn | dict[Kind, Drawn], AfterValidator(_usable)]
"""A number, or a least and a most to draw from by seed; or one of these for each kind."""
EXAMPLES = "a number, [least, most] to draw by seed, or {benchmark: …, instruction: …}"
