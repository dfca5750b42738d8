"""Shared code of the dialogue assets: images and questions of image sets, and settings of numbers."""

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Any, get_args

import dagster as dg
from pydantic import (
    AfterValidator,
    Field,
    PositiveInt,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from assets.cluster import require_whole_sets
from assets.common.generation import Row
from assets.common.settings import schema_of
from methods.image_sets.spec import Kind
from methods.mmdu.composing import Weights, equal_weights
from resources.warehouse import Warehouse

Number = Annotated[int, Field(ge=0, le=1000)]
Numbers = Number | tuple[Number, Number] | dict[Number, PositiveInt]
KINDS: tuple[Kind, ...] = get_args(Kind)
EXAMPLES = (
    "a number, [least, most] or {number: weight} to sample by seed, or these by kind of dialogue"
)


def _in_one_sentence(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    """Replace pydantic's message, which is about one of the allowed types, by one about all of them."""
    try:
        return validate(value)
    except ValidationError:
        raise ValueError(f"must be {EXAMPLES}; the numbers are 0 to 1000") from None


def _usable(value: "Numbers | dict[Kind, Numbers]") -> "Numbers | dict[Kind, Numbers]":
    if isinstance(value, dict) and set(value) & set(KINDS) and set(value) != set(KINDS):
        raise ValueError(f"give a number for each kind: {', '.join(KINDS)}")
    if not all(weights_of(value, kind) for kind in KINDS):
        raise ValueError(f"{value} has no number: give the smaller one first, and a weight of 1")
    return value


def weights_of(value: Any, kind: Kind) -> Weights:
    """Read the numbers that a setting allows for one kind of sets.

    Args:
        value: The setting: a number, a range (least, most), or weights by number; for all kinds or by
            kind.
        kind: The kind.
    """
    of_kind = value.get(kind, value) if isinstance(value, dict) else value
    if isinstance(of_kind, dict):
        return {int(number): weight for number, weight in of_kind.items()}
    return equal_weights(*(of_kind if isinstance(of_kind, tuple | list) else (of_kind, of_kind)))


def at_least(least: int) -> AfterValidator:
    """Make a validator that rejects settings with a number below `least`."""

    def check(value: "Numbers | dict[Kind, Numbers]") -> "Numbers | dict[Kind, Numbers]":
        if any(min(weights_of(value, kind)) < least for kind in KINDS):
            raise ValueError(f"a number here is {least} or more")
        return value

    return AfterValidator(check)


NumberByKind = Annotated[
    Any,
    schema_of(Numbers | dict[Kind, Numbers]),
    WrapValidator(_in_one_sentence),
    AfterValidator(_usable),
]
"""A number, a range (least, most), or weights by number; or one of these for each kind of image set."""


def images_of_sets(warehouse: Warehouse) -> list[Row]:
    """Read the images of every image set with their entries, by set and position.

    Raises dg.Failure if there are no sets, or if entries of sets are missing.
    """
    require_whole_sets(warehouse)
    rows = warehouse.read("dialogue/sets").to_pylist()
    if not rows:
        raise dg.Failure("There are no image sets: run the job cluster first.", allow_retries=False)
    return rows


def questions_of_sets(warehouse: Warehouse) -> list[Row]:
    """Read the questions of every image set with their answers, by set; an answer may be None."""
    return warehouse.read("dialogue/questions").to_pylist()


def by_set(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """Group consecutive rows by `set_id`."""
    return [(set_id, list(group)) for set_id, group in groupby(rows, key=lambda row: row["set_id"])]


def request_name(set_id: str, positions: Sequence[int], n_images: int) -> str:
    """Name a request about images of a set.

    Args:
        set_id: The set.
        positions: The positions of the images.
        n_images: The number of images of the set.
    """
    if len(positions) == n_images:
        return set_id
    images = "image" if len(positions) == 1 else "images"
    return f"{set_id} {images} {', '.join(map(str, positions))}"
