"""The rules of review from `review.yaml`, beside the store's file.

What belongs here: reading and checking it. What the rules mean is `methods/review/process.py`.
"""

from pathlib import Path

import yaml
from pydantic import ValidationError

from methods.errors import UserError
from methods.review.process import RuleBook


class RulesError(UserError):
    """review.yaml is not usable; the message says what to do."""


def read_rules(path: Path) -> RuleBook:
    """The rules in `path`, the default ones without it. Raises RulesError."""
    if not path.exists():
        return RuleBook()
    try:
        book = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RulesError(f"{path} is not YAML: {' '.join(str(error).split())}.") from None
    try:
        return RuleBook.model_validate({} if book is None else book)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise RulesError(f"{path}: {where}: {first['msg']}.") from None
