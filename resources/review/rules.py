"""The rules of review, read from `review.yaml` beside the store's file.

What belongs here: reading and checking the file. The meaning of the rules is in
`methods/review/process.py`.
"""

from pathlib import Path

import yaml
from pydantic import ValidationError

from methods.errors import UserError
from methods.review.process import RuleBook
from methods.validation import first_fault


class RulesError(UserError):
    """review.yaml cannot be used; the message says why."""


def read_rules(path: Path) -> RuleBook:
    """The rules in `path`, or the default ones if there is no such file. Raises RulesError."""
    if not path.exists():
        return RuleBook()
    try:
        book = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RulesError(f"{path} is not YAML: {' '.join(str(error).split())}.") from None
    try:
        return RuleBook.model_validate({} if book is None else book)
    except ValidationError as error:
        where, fault = first_fault(error, RuleBook)
        raise RulesError(f"{path}: {where or 'the whole file'}: {fault}.") from None
