"""Subcommands of `vlm-loom` for actions: names are checked first, then the action runs as a Dagster
run.
"""

from typing import Any, get_args

import click
from pydantic.fields import FieldInfo

from dagster_project.action import Action, shown
from methods.errors import printable
from resources.command_line import CORPUS, NOT_DONE, PROFILE, ChoiceWithSuggestion, WorkspaceCommand


def command_of(action: type[Action]) -> click.Command:
    """Make the subcommand of an action."""

    def perform(**options: Any) -> int:
        # An optional path has no default, because click would resolve "" to the current folder.
        values = {name: "" if value is None else value for name, value in options.items()}
        # Names are checked without a run, which takes seconds to begin.
        for name, field in action.model_fields.items():
            _require(shown(field).kind, values[name])
        from dagster_project.run import perform_as_run

        text = perform_as_run(action, values)
        if text is None:
            return NOT_DONE
        print(printable(text))
        return 0

    return WorkspaceCommand(
        action.COMMAND.split()[1],
        callback=perform,
        params=[
            *(_parameter(name, field) for name, field in action.model_fields.items()),
            *([CORPUS] if "corpus" in action.uses() else []),
            *([PROFILE] if "profile" in action.uses() else []),
        ],
        help=action.help(),
        example=f"vlm-loom {action.EXAMPLE}",
        workspace="optional" if action.MAKES_WORKSPACE else "required",
    )


def _require(kind: str, value: str) -> None:
    """Raise UserError if there is no release, or no format, of this name."""
    if kind == "release" and value:
        from resources.publishing.releases import release_meant
        from resources.warehouse.configured import warehouse_of_home

        release_meant(warehouse_of_home(), value)
    if kind == "format":
        from resources.exports.formats import require_form

        require_form(value)


def _parameter(name: str, field: FieldInfo) -> click.Parameter:
    """Make the parameter of a field: an argument if it is required or positional, else an option."""
    how = shown(field)
    flag = f"--{how.option or name.replace('_', '-')}"
    default = None if field.is_required() else field.default
    if field.annotation is bool:
        return click.Option([flag, name], is_flag=True, help=field.description)
    kind: click.ParamType = click.STRING
    if how.kind == "path":
        kind, default = click.Path(exists=True, resolve_path=True), None
    elif field.annotation is int:
        kind = click.INT
    elif choices := get_args(field.annotation):
        kind = ChoiceWithSuggestion(choices)
    is_option = how.option or not (field.is_required() or how.positional)
    if is_option:
        return click.Option(
            [flag, name],
            type=kind,
            default=default,
            show_default=bool(default),
            help=field.description,
        )
    required = field.is_required()
    more = {} if required else {"default": default}
    return click.Argument([name], type=kind, required=required, help=field.description, **more)
