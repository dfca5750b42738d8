"""Reading and validation of the review rules in `review.yaml`, next to the store's file."""

import json
from pathlib import Path

import yaml
from pydantic import ValidationError

from methods.errors import UserError
from methods.review.process import Calibration, RuleBook, Rules
from methods.validation import first_fault
from methods.yaml_text import from_yaml
from resources.files.bounded import read_file

_FIELDS = RuleBook.model_fields | Rules.model_fields | Calibration.model_fields
_SHOWN = 60
"""Error messages cut longer values to this many characters."""


class RulesError(UserError):
    """review.yaml cannot be used; the message says why."""


def read_rules(path: Path) -> RuleBook:
    """Read the rules in `path`; the default rules if there is no file. Raises RulesError."""
    if not path.exists():
        return RuleBook()
    try:
        book = from_yaml(read_file(path).decode())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RulesError(f"{path} is not YAML: {' '.join(str(error).split())}.") from None
    try:
        return RuleBook.model_validate({} if book is None else book)
    except ValidationError as error:
        raise RulesError(f"{path}: {_validation_sentence(error)}.") from None


def _validation_sentence(error: ValidationError) -> str:
    """Describe the first validation error: its key, its value and the valid values."""
    first = error.errors(include_url=False)[0]
    place, fault = first_fault(error, RuleBook)
    if fault.startswith("there is no "):
        return f"{place}: {fault}"
    shown = json.dumps(first["input"], ensure_ascii=False, default=str)
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]} …"
    if isinstance(first["input"], bool):
        shown += " (which YAML takes yes, no, on and off for, too)"
    # The rules of a kind have the same fields as the default rules.
    parts = place.split(".")
    if parts[0] == "kinds" and len(parts) > 1:
        parts[:2] = ["default"]
    fields = [part for part in parts if part in _FIELDS]
    allowed = _FIELDS[fields[-1]].description if fields else "rules by their names, or nothing"
    return f"{place or 'the whole file'} is {shown}, and may be {allowed}"
