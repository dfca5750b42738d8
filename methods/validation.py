"""What is wrong with a file or with settings that a person wrote, in words.

What belongs here: the first fault of a file as pydantic found it, and checks that settings have in
common. The sentence around it says which file, and what to do.
"""

from collections.abc import Collection, Iterable

from pydantic import BaseModel, ValidationError

from methods.naming import nearest

_NO_SUCH_KEY = ("extra_forbidden", "unexpected_keyword_argument")


def first_fault(error: ValidationError, of: type[BaseModel]) -> tuple[str, str]:
    """Where the first fault is, in keys with dots between them, and what it is, without a full stop.

    Of a key that there is not, the nearest ones that the model or one of its parts has are named.
    """
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] in _NO_SUCH_KEY:
        return place, f"there is no such key; {nearest(str(first['loc'][-1]), _keys(of))}"
    return place, first["msg"].removeprefix("Value error, ")


def require_known(noun: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError for the first name of a `noun` that there is not, with the nearest ones."""
    for name in names:
        if name not in known:
            raise ValueError(f"there is no {noun} {name!r}; {nearest(name, known)}")


def require_once(noun: str, names: Collection[str]) -> None:
    """Raise ValueError if a name of a `noun` is there twice."""
    if len(set(names)) < len(names):
        raise ValueError(f"{'an' if noun[0] in 'aeiou' else 'a'} {noun} is there twice")


def _keys(of: type[BaseModel]) -> set[str]:
    """The fields of a model and of the models that it is made of."""
    schema = of.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return {name for part in parts for name in part.get("properties", {})}
