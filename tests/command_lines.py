"""Command lines of `vlm-loom` in texts: found, and looked whether they would be understood."""

import re
import shlex
from collections.abc import Iterator

import click

from dagster_project.cli import NAME, vlm_loom

_FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`]+)`")


def lines_in(text: str, program: str = NAME, before: str = r"(?:^|[\s(/\"])") -> Iterator[str]:
    """The arguments of each call of a program in the code of a page of Markdown."""
    call = re.compile(rf"{before}{program} ([^|;>()\n]*)", re.MULTILINE)
    for block in _FENCED.findall(text):
        yield from call.findall(block.replace("\\\n", " "))
    for code in _INLINE.findall(_FENCED.sub("", text)):
        yield from call.findall(" ".join(code.split()))


def fault_of(line: str) -> str | None:
    """What is wrong with the arguments of a command line, if anything is; what is left out is not.

    Nothing is run, and no value is looked at but where it must be one of some names.
    """
    words = shlex.split(line, comments=True)
    command: click.Command = vlm_loom
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    if isinstance(command, click.Group):
        return f"no command {words[0]!r}" if words and words[0] != "--help" else None
    parser = command.make_parser(click.Context(command, **command.context_settings))
    try:
        values, more, _ = parser.parse_args(words)
    except click.UsageError as error:
        return error.format_message()
    wrong = [
        f"no {value!r}"
        for each in command.params
        if isinstance(each.type, click.Choice)
        and isinstance(value := values.get(str(each.name)), str)
        and value not in each.type.choices
    ]
    return "; ".join([*wrong, *(f"more: {each}" for each in more)]) or None
