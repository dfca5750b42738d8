"""What the generation assets read: the images and the questions of every set."""

from itertools import groupby
from typing import Annotated, Any, get_args

import dagster as dg
from pydantic import AfterValidator, NonNegativeInt

from assets.cluster import require_whole_sets
from assets.common.generation import Row
from assets.common.settings import schema_of
from methods.image_sets import Kind
from methods.mmdu.composing import Between
from resources.warehouse import Warehouse

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
    """Read the least and the most of a number for one kind of sets.

    Args:
        value: The setting: a number or two, for all kinds or by kind.
        kind: The kind.

    Returns:
        The least and the most.
    """
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


NumberByKind = Annotated[Any, schema_of(Drawn | dict[Kind, Drawn]), AfterValidator(_usable)]
"""A number, or a least and a most to draw from by seed; or one of these for each kind."""
EXAMPLES = "a number, [least, most] to draw by seed, or {benchmark: …, instruction: …}"


def images_of_sets(warehouse: Warehouse) -> list[Row]:
    """Images of every set with their entries, set by set, in order of position.

    Raises dg.Failure where there are no sets, or not the entries of all of them.
    """
    require_whole_sets(warehouse)
    rows = warehouse.read("dialogue/sets").to_pylist()
    if not rows:
        raise dg.Failure("There are no image sets: run the job cluster first.", allow_retries=False)
    return rows


def questions_of_sets(warehouse: Warehouse) -> list[Row]:
    """Questions of every set with their answers, set by set; an answer may be None."""
    return warehouse.read("dialogue/questions").to_pylist()


def by_set(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """Rows in runs of one `set_id`, in their order."""
    return [(set_id, list(group)) for set_id, group in groupby(rows, key=lambda row: row["set_id"])]


def request_name(set_id: str, position: int | None, until: int | None) -> str:
    """Name a request about images of a set.

    Args:
        set_id: The set.
        position: The position of a single image; None for the set.
        until: The last image, if the request is about the images from 1 to it; else None.

    Returns:
        The name.
    """
    name = set_id if position is None else f"{set_id} image {position}"
    return name if until is None else f"{name} images 1 to {until}"
