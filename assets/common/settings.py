"""Settings of assets as Dagster's config: defaults from `settings.yaml`, other values for one run.

Reading, checking and writing the file is `resources/settings/asset_settings.py`. The Launchpad shows
names, types, choices and defaults, and Dagster refuses a run with another name, type or choice. A value
beyond its limits ends a run at its first step, before the step does anything.
"""

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, ClassVar, NamedTuple, TypeVar

import dagster as dg
from pydantic import GetPydanticSchema, ValidationError, create_model

from methods.errors import UserError
from resources.settings.asset_settings import (
    Settings,
    check_settings,
    non_default_settings,
    read_section,
    read_sections,
    sentence,
)

SECTIONS: dict[str, "type[AssetConfig]"] = {}
"""Table of each asset that has settings, and their class; `table_asset` adds to it."""
SHOWN_AS = "settings"
"""Metadata of a materialization: the settings it was made with."""


class AssetConfig(Settings, dg.Config):
    """Settings of one asset: every field has a default, its limits and a description.

    The annotation of a field is a type that Dagster has for config: a number, a text, a truth value, a
    `Literal`, a list, a mapping, one of these or None. For others see `schema_of`.
    """

    TABLE: ClassVar[str] = ""
    """The table whose section of settings.yaml gives the defaults (`with_file_defaults`)."""

    def __init__(self, **values: Any):
        try:
            super().__init__(**values)
        except ValidationError as error:
            if not self.TABLE:
                raise
            # Dagster makes the config before it calls the asset's function.
            reason = sentence(self.TABLE, type(self), error)
            raise dg.Failure(reason, allow_retries=False) from None


def schema_of(kind: Any) -> GetPydanticSchema:
    """For `Annotated[Any, schema_of(kind)]`: pydantic checks it as a type that Dagster lacks."""
    return GetPydanticSchema(lambda _source, handler: handler(kind))


S = TypeVar("S", bound=Settings)
C = TypeVar("C", bound=AssetConfig)


def use_settings(table: str, function: Callable[..., Any]) -> None:
    """Make the section of a table the defaults of a function's parameter `config`, if it has one.

    Args:
        table: The table of the asset.
        function: The asset's function, which is changed.
    """
    function = inspect.unwrap(function)
    if config := function.__annotations__.get("config"):
        SECTIONS[table] = config
        function.__annotations__["config"] = with_file_defaults(table, config)


def with_file_defaults(table: str, config: type[C]) -> type[C]:
    """A subclass whose defaults are those of settings.yaml at this time.

    Args:
        table: The asset's table, whose section of the file it is.
        config: The class with the project's defaults.

    Returns:
        The class that the Launchpad shows.
    """
    derived = create_model(
        config.__name__,
        __base__=config,
        __module__=config.__module__,
        __doc__=config.__doc__,
        **fields_with_file_defaults(table, config),
    )
    derived.TABLE = table
    return derived


def fields_with_file_defaults(table: str, config: type[AssetConfig]) -> dict[str, Any]:
    """Make the fields of a config class with the defaults of settings.yaml.

    If the file cannot be used, these are the project's defaults: each run reports what is wrong.

    Args:
        table: The table of the asset.
        config: The config class.

    Returns:
        The fields as `create_model` takes them.
    """
    try:
        written = read_section(table)
        file_values = check_settings(table, config, written).model_dump(
            mode="json", include={*written}
        )
    except UserError:
        file_values = {}
    fields: dict[str, Any] = {}
    for name, field in config.model_fields.items():
        own = copy(field)
        own.description = f"{field.description or name} In settings.yaml: {table}.{name}."
        if name in file_values:
            own.default, own.default_factory = file_values[name], None
        fields[name] = (field.annotation, own)
    return fields


class RunSettings(NamedTuple):
    """The settings of an asset in one run, and those that only this run had."""

    settings: Settings
    overridden: dict[str, Any]

    def metadata(self) -> dict[str, Any]:
        """Return the metadata of a materialization: its settings, and those that only this run had."""
        shown: dict[str, Any] = {SHOWN_AS: dg.MetadataValue.json(self.settings.model_dump())}
        if self.overridden:
            shown["settings of this run only"] = dg.MetadataValue.json(self.overridden)
        return shown


def current_settings(table: str, config: AssetConfig | None = None) -> RunSettings:
    """The settings of `table` now: values of the run over settings.yaml over the project's defaults.

    Args:
        table: The asset's table.
        config: The asset's config in this run. A value that is the default of its class was not given.

    Returns:
        The settings.

    Raises:
        SettingsError: settings.yaml cannot be used, or a value cannot.
    """
    written = read_sections(SECTIONS)[table]
    run_values = non_default_settings(type(config), config.model_dump()) if config else {}
    file_values = check_settings(table, SECTIONS[table], written).model_dump()
    overridden = {name: value for name, value in run_values.items() if value != file_values[name]}
    return RunSettings(
        check_settings(table, SECTIONS[table], {**written, **run_values}), overridden
    )


def check_run(run_config: Mapping[str, Any]) -> None:
    """Refuse a run at its first step if it gives one of its assets a value beyond the limits.

    Args:
        run_config: The config as it was given at the launch.

    Raises:
        SettingsError: A value cannot be used.
    """
    written = read_sections(SECTIONS)
    for op, op_config in run_config.get("ops", {}).items():
        table = op.replace("__", ".", 1)
        if table in SECTIONS:
            check_settings(
                table, SECTIONS[table], {**written[table], **_literal(op_config.get("config"))}
            )


def _literal(config: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values without those that Dagster reads from the environment (`{env: NAME}`)."""
    return {
        name: value
        for name, value in (config or {}).items()
        if not (isinstance(value, dict) and value.keys() == {"env"})
    }


def read_used_settings(instance: dg.DagsterInstance, table: str, model: type[S]) -> S:
    """Return the settings behind a table's rows: those of its last run, else those of the file.

    Args:
        instance: Dagster's instance.
        table: The table.
        model: The class of its settings.

    Returns:
        The settings.

    Raises:
        SettingsError: The values are not valid.
    """
    values = settings_in_metadata(instance, table)
    if values is None:
        return check_settings(table, model, read_sections(SECTIONS)[table])
    # A setting that a later version does not have says nothing to it.
    return model.model_validate(
        {name: values[name] for name in model.model_fields if name in values}
    )


def settings_in_metadata(instance: dg.DagsterInstance, table: str) -> dict[str, Any] | None:
    """Read the settings that the last materialization of a table shows.

    Args:
        instance: The Dagster instance.
        table: The table.

    Returns:
        The settings; None if it shows none.
    """
    value = last_reported(instance, table, SHOWN_AS)
    return value if isinstance(value, dict) else None


def last_reported(instance: dg.DagsterInstance, table: str, name: str) -> Any:
    """Read a value in the metadata of the last materialization of a table.

    Args:
        instance: The Dagster instance.
        table: The table.
        name: The name of the value.

    Returns:
        The value; None if there is none.
    """
    event = instance.get_latest_materialization_event(dg.AssetKey(table.split(".")))
    metadata = event.asset_materialization.metadata if event and event.asset_materialization else {}
    return metadata[name].value if name in metadata else None
