"""Arguments of commands: what is wrong with them is one sentence, with the nearest that there are.

What belongs here: the parser that every command uses. Which arguments there are is the command's.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from methods.errors import UserError
from methods.naming import nearest

_REQUIRED = "the following arguments are required: "


class CommandParser(argparse.ArgumentParser):
    """Ends the process with code 2 and one sentence, in the place of argparse's usage."""

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: None = None
    ) -> argparse.Namespace:
        """As argparse does; what there is not is answered with the nearest."""
        parsed, more = self.parse_known_args(args, namespace)
        if more:
            self.error(f"there is no argument {more[0]}; {nearest(more[0], self._options())}")
        return parsed

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, or all that is missing."""
        if message.startswith(_REQUIRED):
            message = f"say {message.removeprefix(_REQUIRED)}, too"
        self.exit(2, f"{self.prog.rpartition(' ')[2]}: {message}.\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Called by argparse for each value of an argument that has choices, commands among them."""
        if action.choices is not None and value not in action.choices:
            what = action.metavar or "/".join(action.option_strings) or action.dest
            self.error(
                f"there is no {what} {value!r}; {nearest(str(value), map(str, action.choices))}"
            )

    def _options(self) -> Iterator[str]:
        """The options of this command and of those below it."""
        yield from (each for each in self._option_string_actions if each.startswith("--"))
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    yield from command._options()


def require_said(given: Mapping[str, str | None]) -> None:
    """Raise UserError, which names every setting of `make` that has no value.

    `given` has a value for each, by what is to be said: `FILE=path`.
    """
    missing = [setting for setting, value in given.items() if not value]
    if missing:
        raise UserError(f"Say {' '.join(missing)}.")
