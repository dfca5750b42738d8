"""Print the messages of the product, to be read as a list: errors, command help, asset checks.

python -m tests.messages > /tmp/messages.txt
"""

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

import click

from resources.files.home import REPO_ROOT

PRODUCT = ("assets", "dagster_project", "extras", "methods", "resources", "review")


def error_messages(path: Path) -> Iterator[str]:
    """The line and the text of each error that a module raises or puts together."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        is_error = name.endswith(("Error", "Failure", "Refused", "Lost"))
        if is_error and (name == "ValueError" or not hasattr(builtins, name)):
            for text in (text_of(value) for value in node.args):
                if text:
                    yield f"{path.relative_to(REPO_ROOT)}:{node.lineno}: {text}"


def text_of(value: ast.expr) -> str:
    """The text of a string or f-string of several words; "" for anything else."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str) and " " in value.value:
        return value.value
    if isinstance(value, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
            for part in value.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
    return ""


def command_help(command: click.Command, name: str) -> Iterator[str]:
    """The help of a command, of its options and of the commands below it."""
    yield f"{name}: {' '.join((command.help or '').split())}"
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.help and parameter.name != "workspace":
            yield f"{name} {parameter.opts[0]}: {parameter.help}"
    if isinstance(command, click.Group):
        for below in command.list_commands(click.Context(command)):
            subcommand = command.get_command(click.Context(command), below)
            assert subcommand is not None
            yield from command_help(subcommand, f"{name} {below}")


def check_descriptions() -> Iterator[str]:
    """The description of each asset check."""
    from dagster_project.definitions import defs

    for checks in defs.asset_checks or ():
        for spec in checks.check_specs:
            yield f"{spec.key.to_user_string()}: {spec.description}"


def main() -> None:
    """Print all."""
    from dagster_project.cli import vlm_loom

    for folder in PRODUCT:
        for path in sorted((REPO_ROOT / folder).rglob("*.py")):
            for message in error_messages(path):
                print(message)
    print(*command_help(vlm_loom, "vlm-loom"), sep="\n")
    print(*check_descriptions(), sep="\n")


if __name__ == "__main__":
    main()
