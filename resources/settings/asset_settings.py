"""Reading, validation and writing of `settings.yaml`: settings of assets that differ from defaults.

The file is in the workspace. It has a key per stage, below it a key per asset, and below it the
settings:

    cluster:
      clusters: {tau: 0.6}
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_args

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from methods.errors import UserError
from methods.naming import nearest
from methods.yaml_text import from_yaml
from resources.files.atomic import hold_lock, write_atomically
from resources.files.bounded import read_file
from resources.files.home import settings_path

Sections = Mapping[str, "type[Settings]"]
"""Table of an asset (`stage.name`) -> the class of its settings."""

FORMER_TABLES = {
    "cluster.sides": "cluster.splits",
    "evaluate.judge_probes": "evaluate.judge_bias_tests",
    "evaluate.wording_effects": "evaluate.prompt_sensitivity",
}
"""Table names of version 0.2, which the file may still use, -> current names. The next version no
longer accepts them."""
_LOG = logging.getLogger(__name__)

SCHEMA_NAME = "settings.schema.json"
_HEADER = f"""\
# yaml-language-server: $schema={SCHEMA_NAME}
# Settings of this workspace; others have their defaults. Every run reads this file when a step starts.
"""


S = TypeVar("S", bound="Settings")


class SettingsError(UserError):
    """A setting cannot be used; the message names it."""


class Settings(BaseModel):
    """Base class of the settings of an asset: each field has a default, limits and a description."""

    # Dagster definitions load in half the time if pydantic builds a class at its first use.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    RUN_ONLY: ClassVar[frozenset[str]] = frozenset()
    """Fields for a single run: a run's config may have them, the file may not."""

    RETIRED: ClassVar[frozenset[str]] = frozenset()
    """Fields of earlier versions: the file may still have them, but they have no effect."""

    @model_validator(mode="before")
    @classmethod
    def _without_retired(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {name: value for name, value in values.items() if name not in cls.RETIRED}

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: Any, field: ValidationInfo) -> Any:
        kind = cls.model_fields[str(field.field_name)].annotation
        if isinstance(value, bool) and bool not in (kind, *get_args(kind)):
            raise ValueError("it is not a yes-or-no setting")
        return value


def check_settings(table: str, model: type[S], values: Mapping[str, Any]) -> S:
    """Validate the settings of a table.

    Args:
        table: The table, for the message.
        model: The class of its settings.
        values: The values that differ from the defaults.

    Raises:
        SettingsError: A value is not valid.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise SettingsError(sentence(table, model, error)) from None


_JSON = TypeAdapter(Any)


def non_default_settings(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """Select the values that differ from the defaults.

    Args:
        model: The class with the defaults.
        values: The values by name.

    Returns:
        The values that differ, including values of fields that the class does not have.
    """

    def is_default(name: str, value: object) -> bool:
        if name not in model.model_fields:
            return False
        default = model.model_fields[name].get_default(call_default_factory=True)
        # A run's config is JSON, which has no tuples and no numbers as keys: compare as JSON, too.
        return value in (default, _JSON.dump_python(default, mode="json"))

    return {name: value for name, value in values.items() if not is_default(name, value)}


def read_section(table: str) -> dict[str, Any]:
    """Return the unchecked settings of one table. Raises SettingsError."""
    return _read(settings_path()).get(table, {})


def read_sections(sections: Sections, path: Path | None = None) -> dict[str, dict[str, Any]]:
    """Read the validated settings of each table.

    Args:
        sections: The class of the settings of each table.
        path: The file; None for settings.yaml of the workspace.

    Returns:
        The settings of each table, empty without settings.

    Raises:
        SettingsError: The file cannot be read, or a setting is not valid.
    """
    path = path or settings_path()
    by_table = _read(path)
    try:
        _check(sections, by_table)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None
    return {table: by_table.get(table, {}) for table in sections}


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Read a file as table -> settings; empty if it does not exist. Raises SettingsError."""
    try:
        text = read_file(path).decode()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.") from None
    parsed = _parsed(text)
    if isinstance(parsed, yaml.YAMLError):
        problem = " ".join(str(parsed).split())
        raise SettingsError(f"{path} is not YAML: {problem}.")
    try:
        return _by_table(parsed)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


@lru_cache(maxsize=1)
def _parsed(text: str) -> object:
    """Parse the file, or return its error; cached, as every asset reads it when the Dagster definitions
    load.
    """
    try:
        return from_yaml(text)
    except yaml.YAMLError as error:
        return error


@contextmanager
def lock_settings() -> Iterator[None]:
    """Hold the lock of settings.yaml: read and write the file in one block, or a change is lost."""
    with hold_lock(settings_path().with_name(f".{settings_path().name}.lock")):
        yield


def write_sections(sections: Sections, values: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write settings.yaml, and its JSON schema next to it.

    Args:
        sections: The class of the settings of each table.
        values: The values of each table that differ from the defaults.

    Returns:
        The path of settings.yaml.

    Raises:
        SettingsError: A value is not valid, or the file cannot be written.
    """
    _check(sections, values)
    nested: dict[str, dict[str, Any]] = {}
    for table, section in values.items():
        stage, name = table.split(".")
        if section:
            nested.setdefault(stage, {})[name] = dict(section)
    path = settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    body = yaml.safe_dump(nested, sort_keys=False, allow_unicode=True) if nested else ""
    write_atomically(
        path.with_name(SCHEMA_NAME), json.dumps(json_schema(sections), indent=1).encode()
    )
    write_atomically(path, (_HEADER + body).encode())
    return path


def _check(sections: Sections, values: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise SettingsError if the file may not have these values."""
    for table, section in values.items():
        if table not in sections:
            raise SettingsError(f"there are no settings of {table}; {nearest(table, sections)}.")
        once = sections[table].RUN_ONLY & section.keys()
        if once:
            raise SettingsError(f"{table}.{min(once)} is for one run: give it in the Launchpad.")
        check_settings(table, sections[table], section)


def json_schema(sections: Sections) -> dict[str, Any]:
    """Make the JSON schema of the file, for validation in editors."""
    stages: dict[str, dict[str, Any]] = {}
    for table, settings in sections.items():
        stage, name = table.split(".")
        stages.setdefault(stage, {})[name] = settings.model_json_schema()
    return _closed({stage: _closed(assets) for stage, assets in stages.items()})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _by_table(content: object) -> dict[str, dict[str, Any]]:
    if content is None:
        return {}
    by_table: dict[str, dict[str, Any]] = {}
    if not isinstance(content, dict):
        raise SettingsError("it is not a mapping of stages.")
    for stage, assets in content.items():
        if not isinstance(assets or {}, dict):
            raise SettingsError(f"{stage} is not a mapping of assets.")
        # YAML reads a key with nothing but comments below it as None.
        for name, values in (assets or {}).items():
            if not isinstance(values or {}, dict):
                raise SettingsError(f"{stage}.{name} is not a mapping of settings.")
            by_table[f"{stage}.{name}"] = values or {}
    return _with_current_names(by_table)


def _with_current_names(by_table: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    for former in FORMER_TABLES.keys() & by_table.keys():
        current = FORMER_TABLES[former]
        if current in by_table:
            raise SettingsError(f"{former} is the former name of {current}: keep one of the two.")
        _warn_of_former_name(former, current)
    return {FORMER_TABLES.get(table, table): values for table, values in by_table.items()}


@cache
def _warn_of_former_name(former: str, current: str) -> None:
    """Log a warning of a former name, once per process, since each asset reads the file."""
    _LOG.warning(
        "settings.yaml: %s is now %s. Rename it: the next version does not read the former name.",
        former,
        current,
    )


def sentence(table: str, model: type[Settings], error: ValidationError) -> str:
    """Describe the first validation error of the settings of `table` in one sentence.

    Args:
        table: The asset's table.
        model: The class of its settings.
        error: The error of pydantic.

    Returns:
        The sentence: which setting, its value and its limit, or the nearest name.
    """
    first = error.errors(include_url=False)[0]
    named = ".".join([table, *map(str, first["loc"])])
    if first["type"] == "extra_forbidden":
        return f"there is no setting {named}; {nearest(str(first['loc'][-1]), model.model_fields)}."
    problem = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{named} is {first['input']!r}, but {problem[0].lower()}{problem[1:].rstrip('.')}."
