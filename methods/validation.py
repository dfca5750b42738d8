"""Validation messages for files and settings of users, with suggestions for unknown names."""

from collections.abc import Collection, Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from methods.naming import nearest
from methods.web_address import cut_address

_NO_SUCH_KEY = ("extra_forbidden", "unexpected_keyword_argument")


def first_fault(error: ValidationError, model: type[BaseModel]) -> tuple[str, str]:
    """Describe the first error of a validation. For an unknown key, the description names similar keys.

    Args:
        error: The error.
        model: The class that the values were validated against.

    Returns:
        The path to the value, with dots between its keys and without secrets of addresses, and a
        description without a full stop.
    """
    first = error.errors(include_url=False)[0]
    place = ".".join(cut_address(str(key)) for key in first["loc"])
    if first["type"] in _NO_SUCH_KEY:
        *parents, key = first["loc"]
        return place, f"there is no such key; {nearest(str(key), _keys(model, parents))}"
    return place, first["msg"].removeprefix("Value error, ")


def require_known(noun: str, names: Iterable[str], allowed: Collection[str]) -> None:
    """Check that names exist.

    Args:
        noun: What the names refer to, for the message, such as "task".
        names: The names.
        allowed: All names that exist.

    Raises:
        ValueError: A name does not exist; the message names similar ones.
    """
    for name in names:
        if name not in allowed:
            raise ValueError(f"there is no {noun} {name!r}; {nearest(name, allowed)}")


def require_once(noun: str, names: Collection[str]) -> None:
    """Check that no name occurs twice.

    Args:
        noun: What the names refer to, for the message, such as "task".
        names: The names.

    Raises:
        ValueError: A name occurs twice.
    """
    if len(set(names)) < len(names):
        raise ValueError(f"{'an' if noun[0] in 'aeiou' else 'a'} {noun} is there twice")


def _keys(model: type[BaseModel], parents: Iterable[int | str]) -> set[str]:
    """The keys that a model allows at a path. `parents` are the keys of the path, from the root."""
    whole = model.model_json_schema()
    parts = _alternatives(whole, whole)
    for step in parents:
        below = [
            alternative
            for part in parts
            for schema in (
                part.get("properties", {}).get(step),
                part.get("additionalProperties"),
                part.get("items"),
            )
            if isinstance(schema, dict)
            for alternative in _alternatives(schema, whole)
        ]
        # Pydantic's path also has names of union alternatives, which are no keys.
        parts = below or parts
    return {name for part in parts for name in part.get("properties", {})}


def _alternatives(schema: dict[str, Any], whole: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternative JSON schemas of a value, with references to definitions of `whole` resolved."""
    if "$ref" in schema:
        return _alternatives(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    any_of = schema.get("anyOf", schema.get("allOf"))
    return [each for part in any_of for each in _alternatives(part, whole)] if any_of else [schema]
