"""The base of every command: an error is one sentence with similar valid names. Exit codes are 0 for
success, 1 for partial success, 2 for failure.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import click
from click.core import ParameterSource

from methods.delimited import QUOTING_HELP, QUOTINGS
from methods.errors import UserError, printable
from methods.naming import nearest
from resources.files.home import DEFAULT, home
from resources.files.system_errors import ResourceExhausted, exhaustion_message
from resources.settings.packages import package_missing
from resources.stores.address import server_error
from resources.web.ports import HOST

NOT_DONE = 2
FILE = click.Path(path_type=Path)
AS_JSON = click.Option(["--json", "as_json"], is_flag=True, help="As JSON, for programs.")


def _environment(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """A callback that makes the value that of an environment variable, which all parts read."""

    def store(_context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if value is not None:
            os.environ[name] = str(value)

    return store


def _workspace_option(name: str, *, hidden: bool = False) -> click.Option:
    return click.Option(
        [name],
        type=click.Path(file_okay=False, path_type=Path, resolve_path=True),
        expose_value=False,
        is_eager=True,
        hidden=hidden,
        callback=_environment("LOOM_WORKSPACE"),
        help=f"The workspace, the folder for all files (LOOM_WORKSPACE; by default {DEFAULT}).",
    )


WORKSPACE = _workspace_option("--workspace")
FORMER_WORKSPACE = _workspace_option("--home", hidden=True)
"""The name of the option in 0.2, which the next version drops."""
FORMER_NAMES = {"home": "workspace", "ask-anew": "re-ask", "offline-server": "mock-server"}
"""Names of commands in 0.2, which the next version drops."""
CORPUS = click.Option(
    ["--corpus"],
    type=click.Path(path_type=Path, resolve_path=True),
    expose_value=False,
    callback=_environment("LOOM_CORPUS"),
    help="The folder with the shards (LOOM_CORPUS; the sample corpus by default).",
)
PROFILE = click.Option(
    ["--profile"],
    expose_value=False,
    callback=_environment("LOOM_PROFILE"),
    help="Which models write, judge and are evaluated: a profile of models.yaml (LOOM_PROFILE).",
)


class ChoiceWithSuggestion(click.Choice[str]):
    """One of some names; another one is answered with the nearest."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """The sentence for another name."""
        return f"there is no {value!r}; {nearest(str(value), map(str, self.choices))}"


class _Port(click.IntRange):
    """A port that a server can listen on."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number, in one sentence for whatever is none."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value} is not a port: give a number from 1 to 65535", param, ctx)


PORT = _Port(1, 65535)
QUOTING = click.Option(
    ["--quoting"],
    type=ChoiceWithSuggestion(QUOTINGS),
    default=QUOTINGS[0],
    show_default=True,
    help=QUOTING_HELP,
)
LISTEN = click.Option(
    ["--listen"],
    default=HOST,
    envvar="LOOM_LISTEN",
    show_default=True,
    help="The address that the server listens on (LOOM_LISTEN); 0.0.0.0 in a container.",
)


Workspace = Literal["required", "optional", "unused"]
"""Whether a command is refused where there is no workspace, makes one or goes without, or uses none."""


class Command(click.Command):
    """A command that has the workspace as an option, and says all that is missing at once.

    A command that uses the workspace says which one that is, first of all and on standard error: what
    it prints on standard output may be data.
    """

    def __init__(
        self,
        *arguments: Any,
        example: str = "",
        workspace: Workspace = "required",
        **attributes: Any,
    ) -> None:
        self.workspace = workspace
        attributes["params"] = [*(attributes.get("params") or []), WORKSPACE, FORMER_WORKSPACE]
        if example:
            # On a line of its own, however long, to be copied.
            attributes["epilog"] = f"\b\nExample: {example}"
        super().__init__(*arguments, **attributes)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; only the first missing one is reported."""
        arguments = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter:
            values, _, _ = self.make_parser(ctx).parse_args(arguments)
            missing = [
                _name(param)
                for param in self.params
                if param.required and not isinstance(values.get(str(param.name)), str)
            ]
            raise click.UsageError(f"say {' and '.join(missing)}, too", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke the command after its arguments were checked."""
        if self.workspace != "unused":
            from resources.stores_of_home import require_folder, require_home

            require_home() if self.workspace == "required" else require_folder()
            say_workspace()
            self.prepare()
        return super().invoke(ctx)

    def prepare(self) -> None:
        """Make the workspace ready for the command."""


def say_workspace() -> None:
    """Print the folder that the command works on: it may be another one than the user thinks of."""
    chosen = "" if os.environ.get("LOOM_WORKSPACE") else " (the default: --workspace names another)"
    print(printable(f"Workspace: {home()}{chosen}"), file=sys.stderr, flush=True)


class WorkspaceCommand(Command):
    """A command that works on a workspace of this version, and brings it there first."""

    def prepare(self) -> None:
        """Bring the files of the workspace to this version."""
        from resources.stores_of_home import bring_home_up_to_date

        bring_home_up_to_date()


class ReadingCommand(WorkspaceCommand):
    """A command that only reads the workspace, also one that this user may not write."""

    def prepare(self) -> None:
        """Bring the files of the workspace to this version if they may be written."""
        from resources.stores_of_home import may_write

        if may_write():
            super().prepare()


class CommandGroup(click.Group):
    """Commands under one name, each of the form above; the workspace may be named before them, too."""

    command_class: type[click.Command] | None = Command
    group_class = type

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        attributes["params"] = [*(attributes.get("params") or []), WORKSPACE, FORMER_WORKSPACE]
        super().__init__(*arguments, **attributes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by its name, or by its former name."""
        return super().get_command(ctx, FORMER_NAMES.get(cmd_name, cmd_name))


class WorkspaceCommandGroup(CommandGroup):
    """Commands that all work on a home of this version."""

    command_class = WorkspaceCommand


def options_below(command: click.Command) -> Iterator[str]:
    """The options of a command and of those below it."""
    for param in command.params:
        yield from (name for name in param.opts if name.startswith("--"))
    if isinstance(command, click.Group):
        for below in command.commands.values():
            yield from options_below(below)


def run(group: click.Group, name: str, argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Args:
        group: The command group.
        name: The name of the program, for help and messages.
        argv: The arguments; by default those of the process.

    Returns:
        The exit code.
    """
    try:
        done = group.main(argv, prog_name=name, standalone_mode=False)
    except click.Abort as error:
        # What follows from it, where the interrupted says so.
        print(str(error.__cause__ or ""), file=sys.stderr)
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return NOT_DONE
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else name
        print(f"{where}: {_sentence(error).rstrip('.')}.", file=sys.stderr)
        return NOT_DONE
    except BaseException as error:
        message = (
            exhaustion_message(error) or package_missing(error) or server_error(error) or error
        )
        if not isinstance(message, OSError | UserError):
            raise
        print(printable(str(message)), file=sys.stderr)
        # A disk or a limit ran out while the command worked.
        return 1 if isinstance(message, ResourceExhausted) else NOT_DONE
    return done if isinstance(done, int) else 0


def _sentence(error: click.UsageError) -> str:
    """What is wrong with arguments, beginning in lower case."""
    command = error.ctx.command if error.ctx else None
    if isinstance(error, click.exceptions.NoSuchCommand) and isinstance(command, click.Group):
        name = error.command_name
        return f"there is no command {name!r}; {nearest(name, command.commands)}"
    if isinstance(error, click.NoSuchOption) and command is not None:
        name = error.option_name
        return f"there is no option {name}; {nearest(name, options_below(command))}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{_name(error.param, error.ctx)}: {error.message}"
    message = error.format_message()
    return message[:1].lower() + message[1:]


def _name(parameter: click.Parameter, context: click.Context | None = None) -> str:
    """A parameter as a person gave it: an argument, an option, or a variable of the environment."""
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name
    source = context.get_parameter_source(str(parameter.name)) if context else None
    if source is ParameterSource.ENVIRONMENT:
        return str(parameter.envvar)
    return parameter.opts[0]
