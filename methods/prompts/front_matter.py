"""Front matter of a prompt file: settings of a prompt that are not sent to the model.

It is YAML between two lines `---` at the beginning of the file, and optional:

    ---
    task: judge
    ---

`task` tells the offline model server the task of the prompt. What belongs here: the fields, and
splitting them from the text.
"""

import re

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from methods.validation import first_fault

_FIRST_LINE = "---\n"
_BLOCK = re.compile(r"---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)


class FrontMatterError(ValueError):
    """Front matter cannot be parsed; the message is a predicate whose subject is the front matter."""


class FrontMatter(BaseModel):
    """The fields; `task` is empty if the file has none."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    task: str = ""


def split_front_matter(source: str) -> tuple[FrontMatter, str]:
    """The front matter of a prompt file and the text below it. Raises FrontMatterError."""
    if not source.startswith(_FIRST_LINE):
        return FrontMatter(), source
    block = _BLOCK.match(source)
    if block is None:
        raise FrontMatterError("has no second line '---'")
    try:
        fields = yaml.safe_load(block[1]) or {}
    except yaml.YAMLError as error:
        raise FrontMatterError(f"is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(fields, dict):
        raise FrontMatterError("holds no fields: write, for example, 'task: judge'")
    try:
        return FrontMatter.model_validate(fields), source[block.end() :]
    except ValidationError as error:
        place, said = first_fault(error, FrontMatter)
        raise FrontMatterError(f"is wrong at '{place}': {said}") from None
