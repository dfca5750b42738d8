"""What is wrong with a file that a person wrote, as pydantic found it, in words.

What belongs here: the first fault of a file. The sentence around it says which file, and what to do.
"""

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


def _keys(of: type[BaseModel]) -> set[str]:
    """The fields of a model and of the models that it is made of."""
    schema = of.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return {name for part in parts for name in part.get("properties", {})}
