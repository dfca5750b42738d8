"""Base classes of the CLI commands (click): common options, error messages and exit codes.

An error is one sentence that suggests similar valid names. Exit codes are 0 for success, 1 for partial
success, 2 for failure.
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
from resources.files.system_errors import ResourceExhausted
from resources.migrations import StoreLost
from resources.user_errors import user_error
from resources.web.ports import HOST

NOT_DONE = 2
FILE = click.Path(path_type=Path)
AS_JSON = click.Option(["--json", "as_json"], is_flag=True, help="As JSON, for programs.")


def _environment(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Make a callback that stores an option in an environment variable, which all modules read."""

    def store(_context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if value is not None:
            os.environ[name] = str(value)

    return store


class _Folder(click.Path):
    """A folder. An empty text, as of a variable that is not set, is refused."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path, resolve_path=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert the text to an absolute path."""
        if value == "":
            self.fail("the path is empty; name a folder, or leave the option out", param, ctx)
        return super().convert(value, param, ctx)


def _workspace_option(name: str, *, hidden: bool = False) -> click.Option:
    return click.Option(
        [name],
        type=_Folder(),
        expose_value=False,
        is_eager=True,
        hidden=hidden,
        callback=_environment("LOOM_WORKSPACE"),
        help=f"The workspace, the folder for all files (LOOM_WORKSPACE; by default {DEFAULT}).",
    )


WORKSPACE = _workspace_option("--workspace")
FORMER_WORKSPACE = _workspace_option("--home", hidden=True)
"""The deprecated name of the option in 0.2, which the next version removes."""
FORMER_NAMES = {"home": "workspace", "ask-anew": "re-ask", "offline-server": "mock-server"}
"""Deprecated names of commands in 0.2, which the next version removes, and their new names."""
CORPUS = click.Option(
    ["--corpus"],
    type=click.Path(path_type=Path, resolve_path=True),
    expose_value=False,
    callback=_environment("LOOM_CORPUS"),
    help="The folder with the shards (LOOM_CORPUS; by default that of the last ingest, or the sample).",
)
PROFILE = click.Option(
    ["--profile"],
    expose_value=False,
    callback=_environment("LOOM_PROFILE"),
    help="Which models write, judge and are evaluated: a profile of models.yaml (LOOM_PROFILE).",
)


class ChoiceWithSuggestion(click.Choice[str]):
    """A choice of names. For an unknown name, the error message suggests the most similar names."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the error message for an unknown name."""
        return f"there is no {value!r}; {nearest(str(value), map(str, self.choices))}"


class _Port(click.IntRange):
    """A port that a server can listen on."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Convert the text to a port number; fail with one sentence for any other text."""
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
"""How a command uses the workspace. `required`: it fails without one. `optional`: it creates one or
works without it. `unused`: it does not use one."""


class Command(click.Command):
    """A command with the option `--workspace`, which reports all missing arguments at once.

    If the command uses the workspace, it first prints its path to standard error. Standard output is
    left for data.
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
            # The example is on a separate line without line breaks, so that users can copy it.
            attributes["epilog"] = f"\b\nExample: {example}"
        super().__init__(*arguments, **attributes)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. If any are missing, all of them are reported."""
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
        """Check and prepare the workspace, and invoke the command."""
        if self.workspace != "unused":
            from resources.stores_of_home import require_folder, require_home

            require_home() if self.workspace == "required" else require_folder()
            say_workspace()
            self.prepare()
        return super().invoke(ctx)

    def prepare(self) -> None:
        """Prepare the workspace for the command. Subclasses may override it."""


def say_workspace() -> None:
    """Print the folder of the workspace to standard error: the user may expect another one."""
    chosen = "" if os.environ.get("LOOM_WORKSPACE") else " (the default: --workspace names another)"
    print(printable(f"Workspace: {home()}{chosen}"), file=sys.stderr, flush=True)


class WorkspaceCommand(Command):
    """A command that first migrates the workspace to this version."""

    def prepare(self) -> None:
        """Migrate the files of the workspace to this version."""
        from resources.stores_of_home import bring_home_up_to_date

        bring_home_up_to_date()


class ReadingCommand(WorkspaceCommand):
    """A command that only reads the workspace. It also works without write permission."""

    def prepare(self) -> None:
        """Migrate the files of the workspace to this version if the user may write them."""
        from resources.stores_of_home import may_write

        if may_write():
            super().prepare()


class CommandGroup(click.Group):
    """A group of commands of the class `Command`. `--workspace` may also precede the subcommand."""

    command_class: type[click.Command] | None = Command
    group_class = type

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        attributes["params"] = [*(attributes.get("params") or []), WORKSPACE, FORMER_WORKSPACE]
        super().__init__(*arguments, **attributes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by its name, or by its former name."""
        return super().get_command(ctx, FORMER_NAMES.get(cmd_name, cmd_name))


class WorkspaceCommandGroup(CommandGroup):
    """A group of commands of the class `WorkspaceCommand`."""

    command_class = WorkspaceCommand


def options_below(command: click.Command) -> Iterator[str]:
    """Yield the names of the options of a command and of all its subcommands."""
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
    """
    try:
        done = group.main(argv, prog_name=name, standalone_mode=False)
    except click.Abort as error:
        # The interrupted command may explain the consequences in the cause.
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
        message = user_error(error)
        if not isinstance(message, OSError | UserError):
            raise
        print(printable(str(message)), file=sys.stderr)
        # If a disk or a limit was exhausted, the command may have done a part of its work.
        return 1 if isinstance(message, ResourceExhausted | StoreLost) else NOT_DONE
    return done if isinstance(done, int) else 0


def _sentence(error: click.UsageError) -> str:
    """The error message for wrong arguments, beginning in lower case."""
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
    """The name of a parameter as the user gave it: argument, option or environment variable."""
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name
    source = context.get_parameter_source(str(parameter.name)) if context else None
    if source is ParameterSource.ENVIRONMENT:
        return str(parameter.envvar)
    return parameter.opts[0]
