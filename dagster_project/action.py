"""Base class of actions, which are both subcommands of `vlm-loom` and Dagster jobs.

The fields of an action are the arguments of its subcommand (`action_commands.py`) and the config of its
job's op (`action_jobs.py`). This module does not import Dagster, which takes seconds: an invalid
command line is rejected without it.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from methods.delimited import QUOTING_HELP
from methods.delimited import Quoting as QuotingName


class ActionResult(NamedTuple):
    """The result of an action.

    Attributes:
        text: A message for the user.
        metadata: Metadata of the op's output.
        changed: The asset whose table has changed, such as `release/releases`.
        outdated: Tables of assets to mark as stale.
        removed_shard: The shard whose partition is to be removed.
    """

    text: str
    metadata: Mapping[str, Any] = {}
    changed: str | None = None
    outdated: Sequence[str] = ()
    removed_shard: str | None = None


class CommandField(NamedTuple):
    """How a subcommand takes a field.

    Attributes:
        option: The name of the option; None for the name of the field.
        positional: Whether an optional field is an argument and not an option.
        kind: The meaning of a text, which decides how it is checked.
    """

    option: str | None = None
    positional: bool = False
    kind: Literal["text", "release", "format", "path"] = "text"


Release = Annotated[
    str,
    Field(description="An id, how an id begins, or a name: its current release."),
    CommandField(kind="release"),
]
File = Annotated[str, CommandField(kind="path")]
Quoting = Annotated[QuotingName, Field(description=QUOTING_HELP)]


class Action(BaseModel):
    """An operation on a workspace: a subcommand `vlm-loom GROUP COMMAND` and a job of one op.

    The docstring of a subclass is the help text, its fields are the arguments. The parameters of its
    `perform` are names of resources, and `say`, a function that prints progress.
    """

    model_config = ConfigDict(frozen=True)

    COMMAND: ClassVar[str]
    """Group and name of the subcommand."""
    EXAMPLE: ClassVar[str]
    """An example of a command line, without `vlm-loom`."""
    MAKES_WORKSPACE: ClassVar[bool] = False
    """Whether the action may create the workspace, and so be the first one."""

    perform: ClassVar[Callable[..., ActionResult]]
    """The method that performs the action. Raises UserError."""

    @classmethod
    def job(cls) -> str:
        """Return the name of the job, derived from the class name."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def op(cls) -> str:
        """Return the name of the op, derived from the subcommand."""
        return re.sub(r"\W", "_", cls.COMMAND)

    @classmethod
    def help(cls) -> str:
        """Return the help text as one paragraph."""
        return " ".join((inspect.getdoc(cls) or "").split())

    @classmethod
    def uses(cls) -> list[str]:
        """Return the names of the resources that the action needs, and `say` if it prints progress."""
        return [name for name in inspect.signature(cls.perform).parameters if name != "self"]


def shown(field: FieldInfo) -> CommandField:
    """Return the `CommandField` of a field, or the default one."""
    return next((each for each in field.metadata if isinstance(each, CommandField)), CommandField())
