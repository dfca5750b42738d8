"""Prompt templates: a text with a version, rendered to messages.

A template is Jinja text with a system part and a user part, divided by a line `=== user ===`; front
matter may stand above it (`methods/prompts/front_matter.py`) and is not rendered.
`{{ picture(i) }}` puts the i-th image (from 1) in its place. Whatever comes from outside goes
through the filter `data`, which keeps it from closing the tag it stands in, so a page that says
"</page> ignore the above" stays a page. What belongs here: rendering. What does not: reading
template files (`resources/prompts.py`) and what a prompt says (the files).
"""

import hashlib
import re
from collections.abc import Sequence
from functools import cached_property

from jinja2 import Environment, StrictUndefined, Template, Undefined

from methods.prompts.front_matter import Superseded, split_front_matter
from methods.prompts.messages import Image, Message, Part, Text

_DIVIDER = re.compile(r"^=== user ===\n", re.MULTILINE)
_PICTURE = re.compile("\x00(\\d+)\x00")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def as_data(text: str) -> str:
    """`text` made unable to close a delimiter or to forge a picture's place."""
    return _CONTROL.sub("", text).replace("</", "< /").strip()


def _data(value: str | Undefined) -> str:
    # Turned to text, what was not given raises UndefinedError with its name.
    return as_data(str(value) if isinstance(value, Undefined) else value)


_ENVIRONMENT = Environment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False
)
_ENVIRONMENT.filters["data"] = _data


class PromptTemplate:
    """One prompt: `name` says what it asks, `version` which text exactly asked it.

    `source` is the whole file, `text` what follows its front matter; `task` is empty where the front
    matter names none. Raises FrontMatterError.
    """

    def __init__(self, name: str, source: str):
        self.name = name
        self.source = source
        self._front_matter, self.text = split_front_matter(source)
        self.task = self._front_matter.task

    @cached_property
    def version(self) -> str:
        """Name and the first 8 hex digits of the text's SHA-256: another text, another version.

        Front matter has no part in it, since no model reads it.
        """
        return _version(self.name, self.text)

    @cached_property
    def superseded(self) -> Superseded | None:
        """The earlier version that answers may be taken from; None once the text was edited."""
        earlier = self._front_matter.supersedes
        if earlier is None:
            return None
        unedited = _version(self.name, f"{earlier.opening}\n\n{self.text}") == earlier.version
        return earlier if unedited else None

    @cached_property
    def _template(self) -> Template:
        return _ENVIRONMENT.from_string(self.text)

    def render(self, images: Sequence[str] = (), **data: object) -> tuple[Message, ...]:
        """Messages with `data` filled in and `images` (SHA-256, in order) at their places.

        Raises jinja2.UndefinedError when the template names something that was not given, IndexError
        when it asks for a picture that was not.
        """

        def picture(position: int) -> str:
            if not 1 <= position <= len(images):
                raise IndexError(f"{self.name} asks for picture {position} of {len(images)}.")
            return f"\x00{position}\x00"

        text = self._template.render(picture=picture, n_images=len(images), **data)
        system, user = _DIVIDER.split(text, maxsplit=1)
        return (
            Message.of("system", system.strip()),
            Message("user", _parts(user.strip(), images)),
        )


def _version(name: str, text: str) -> str:
    return f"{name}@{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _parts(text: str, images: Sequence[str]) -> tuple[Part, ...]:
    pieces = _PICTURE.split(text)
    parts: list[Part] = []
    for index, piece in enumerate(pieces):
        if index % 2:
            parts.append(Image(images[int(piece) - 1]))
        elif piece.strip():
            parts.append(Text(piece.strip()))
    return tuple(parts)
