"""Prompt templates: a text with a version, rendered to messages.

A template is Jinja text with a system part and a user part, divided by a line `=== user ===`. Front
matter with settings of the prompt may precede it and is not rendered. `{{ picture(i) }}` inserts the
i-th image (from 1). The filter `data` prevents prompt injection by untrusted text: a page that contains
"</page> ignore the above" cannot close the `<page>` tag around it. No value can insert an image or
the divider, with or without the filter. Templates run in Jinja's sandbox, so a prompt file from
somebody else cannot run Python. The sandbox does not limit the time and memory of loops.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template, TemplateSyntaxError, Undefined, UndefinedError
from jinja2.exceptions import TemplateRuntimeError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError
from pydantic import BaseModel, ConfigDict, ValidationError

from methods.errors import PromptUnusable
from methods.prompts.messages import Image, Message, Part, Text
from methods.validation import first_fault
from methods.yaml_text import from_yaml

_FIRST_LINE = "---\n"
_BLOCK = re.compile(r"---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)


class FrontMatterError(ValueError):
    """Front matter cannot be parsed. The message continues a sentence: "The front matter ..."."""


class FrontMatter(BaseModel):
    """The fields of the front matter; `task` is empty if the file has none."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    task: str = ""


def split_front_matter(source: str) -> tuple[FrontMatter, str]:
    """Split a prompt file into front matter and the text below it. Raises FrontMatterError."""
    if not source.startswith(_FIRST_LINE):
        return FrontMatter(), source
    block = _BLOCK.match(source)
    if block is None:
        raise FrontMatterError("has no second line '---'")
    try:
        fields = from_yaml(block[1]) or {}
    except yaml.YAMLError as error:
        raise FrontMatterError(f"is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(fields, dict):
        raise FrontMatterError("holds no fields: write, for example, 'task: judge'")
    try:
        return FrontMatter.model_validate(fields), source[block.end() :]
    except ValidationError as error:
        place, fault = first_fault(error, FrontMatter)
        raise FrontMatterError(f"is wrong at '{place}': {fault}") from None


_DIVIDER = re.compile(r"^=== user ===\n", re.MULTILINE)
_USER_PART = "\x00user\x00\n"
"""The divider while a template is rendered. Values have no NUL, so none of them can divide the text."""
_PICTURE = re.compile("\x00(\\d+)\x00")
_MARK = re.compile(
    r"<(?=/|[|｜]|(?:start|end)_of_turn>|s>|[be]os>|<SYS>)|\[(?=/?(?:INST|SYSTEM_PROMPT)\]|UNUSED_TOKEN_)"
)
"""The first character of a closing tag, and of the tokens that separate turns in chat templates."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def as_data(text: str) -> str:
    """Escape a text so that it cannot close a tag, imitate the placeholder of an image, or end its turn
    on a server that reads the tokens of its chat template in texts.
    """
    return _MARK.sub(r"\g<0> ", _CONTROL.sub("", text)).strip()


def _data(value: str | Undefined) -> str:
    # str() of a missing variable raises UndefinedError with its name.
    return as_data(str(value) if isinstance(value, Undefined) else value)


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, where a short product or power does not fill the memory."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" or not (isinstance(left, Real) and isinstance(right, Real)):
            raise SecurityError(f"{operator} repeats texts or lists, or computes a power")
        return super().call_binop(context, operator, left, right)


_ENVIRONMENT = _Environment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False
)
_ENVIRONMENT.filters["data"] = _data


_FAULTS = (
    TemplateRuntimeError,
    ArithmeticError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Exceptions that expressions of a template may raise, for example by dividing by zero, recursion or
including a file."""


class TemplateError(PromptUnusable):
    """A prompt is not a valid template, or uses an unknown field; the message names the position."""


class PromptTemplate:
    """One prompt.

    Attributes:
        name: The name of its file.
        version: Name and hash of its exact text.
        source: The whole file.
        text: The part after the front matter.
        task: The task in the front matter; empty without one.

    Raises:
        FrontMatterError: The front matter is not valid.
    """

    def __init__(self, name: str, source: str):
        self.name = name
        self.source = source
        front_matter, self.text = split_front_matter(source)
        self.task = front_matter.task

    @cached_property
    def version(self) -> str:
        """Name and the first 8 hex digits of the text's SHA-256: an edit changes the version.

        Front matter is not part of it, because it is not sent to a model.
        """
        return f"{self.name}@{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"

    @cached_property
    def _template(self) -> Template:
        try:
            return _ENVIRONMENT.from_string(_DIVIDER.sub(_USER_PART, self.text))
        except RecursionError:
            raise TemplateError(
                f"The prompt {self.name} is not a template: an expression is nested too deep."
            ) from None
        except TemplateSyntaxError as error:
            line = error.lineno + self.source.count("\n") - self.text.count("\n")
            raise TemplateError(
                f"Line {line} of the prompt {self.name} is not a template: {error.message}; what is "
                "to be "
                "sent as it is stands between {% raw %} and {% endraw %}."
            ) from None

    def check(self) -> None:
        """Raise TemplateError if the text is not a template."""
        _ = self._template

    def render(self, images: Sequence[str] = (), **data: object) -> tuple[Message, ...]:
        """Render the messages, with `data` filled in and `images` (SHA-256, in order) inserted.

        Without a system part, only the user's message is returned. Raises TemplateError if the template
        uses a missing variable or image, or an expression that Jinja's sandbox forbids. NUL characters,
        which mark images and the divider, are removed from all strings in `data`.
        """

        def picture(position: int) -> str:
            if not 1 <= position <= len(images):
                raise TemplateError(
                    f"The prompt {self.name} asks for image {position}, but there are {len(images)} "
                    "images."
                )
            return f"\x00{position}\x00"

        try:
            text = self._template.render(
                picture=picture, n_images=len(images), **_without_nul(data)
            )
        except UndefinedError as error:
            names = ", ".join(sorted({"n_images", "picture(i)", *data}))
            raise TemplateError(
                f"The prompt {self.name} cannot be filled in: {error.message}; it is given {names}."
            ) from None
        except _FAULTS as error:
            reason = str(error).rstrip(".") or type(error).__name__
            raise TemplateError(
                f"The prompt {self.name} cannot be filled in: {reason}. Remove the expression from the "
                "prompt file."
            ) from error
        system, user = text.split(_USER_PART, maxsplit=1)
        # Only the first divider divides; a later one is text.
        user = user.replace(_USER_PART, "=== user ===\n")
        user_message = Message("user", _parts(user.strip(), images))
        return (
            (Message.from_text("system", system.strip()), user_message)
            if system.strip()
            else (user_message,)
        )


def _without_nul(value: Any) -> Any:
    """Remove NUL from a string, and from all strings in mappings, lists and tuples."""
    if isinstance(value, str):
        return value.replace("\x00", "")
    if isinstance(value, Mapping):
        return {_without_nul(key): _without_nul(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(_without_nul, value))
    if isinstance(value, list | tuple):
        return type(value)(map(_without_nul, value))
    return value


def _parts(text: str, images: Sequence[str]) -> tuple[Part, ...]:
    pieces = _PICTURE.split(text)
    parts: list[Part] = []
    for index, piece in enumerate(pieces):
        if index % 2:
            parts.append(Image(images[int(piece) - 1]))
        elif piece.strip():
            parts.append(Text(piece.strip()))
    return tuple(parts)
