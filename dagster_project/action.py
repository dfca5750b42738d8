"""The model of an action: its fields are the arguments of a subcommand and the config of an op.

`action_commands.py` makes the subcommand, `action_jobs.py` the job. Nothing here loads Dagster, which
takes seconds: a command line that is refused does not need it.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from methods.delimited import QUOTING_HELP
from methods.delimited import Quoting as QuotingName


class ActionResult(NamedTuple):
    """The result of an action.

    Attributes:
        text: Sentences.
        metadata: Metadata of its op.
        changed: The asset whose table has changed.
        outdated: Tables whose assets are to be made again.
        removed_shard: The shard that is no partition any more.
    """

    text: str
    metadata: Mapping[str, Any] = {}
    changed: str | None = None
    outdated: Sequence[str] = ()
    removed_shard: str | None = None


class CommandField(NamedTuple):
    """How a subcommand takes a field.

    `option` is the option's name, without it the field's own. A field that is `positional` is an
    argument although it may be left out. `kind` says what else a text is.
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
    """An operation on a workspace: a subcommand `vlm-loom GROUP COMMAND`, a job and an op.

    The docstring of a subclass is the help, its fields are the arguments. The parameters of its
    `perform` are resources by name, and `say`, which prints progress.
    """

    model_config = ConfigDict(frozen=True)

    COMMAND: ClassVar[str]
    """Group and name of the subcommand."""
    EXAMPLE: ClassVar[str]
    """A command line, without `vlm-loom`."""
    MAKES_WORKSPACE: ClassVar[bool] = False
    """Whether it may be the first thing that is done to a workspace."""

    perform: ClassVar[Callable[..., ActionResult]]
    """A method that does it. Raises UserError."""

    @classmethod
    def job(cls) -> str:
        """The name of its job, derived from the class name."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def op(cls) -> str:
        """The name of its op, derived from the subcommand."""
        return re.sub(r"\W", "_", cls.COMMAND)

    @classmethod
    def help(cls) -> str:
        """The help as one paragraph."""
        return " ".join((inspect.getdoc(cls) or "").split())

    @classmethod
    def uses(cls) -> list[str]:
        """The resources that it needs, and `say`."""
        return [name for name in inspect.signature(cls.perform).parameters if name != "self"]


def shown(field: FieldInfo) -> CommandField:
    """How a subcommand takes a field of an action."""
    return next((each for each in field.metadata if isinstance(each, CommandField)), CommandField())


def choices(field: FieldInfo) -> tuple[str, ...]:
    """The values that a field may have; none where it may have any."""
    return get_args(field.annotation)
