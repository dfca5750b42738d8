"""Settings of assets as Dagster run config: defaults from `settings.yaml`, overrides for a single run.

`resources/settings/asset_settings.py` reads, checks and writes the file. The Launchpad shows names,
types, choices and defaults, and Dagster rejects a run with an unknown name, a wrong type or choice. A
value outside its limits fails the run at its first step, before the step does anything.
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
"""Table of each asset with settings -> the class of the settings. `table_asset` fills it."""
SHOWN_AS = "settings"
"""Metadata of a materialization: the settings of its run."""


class AssetConfig(Settings, dg.Config):
    """Base class for the settings of one asset: every field has a default, limits and a description.

    Fields are annotated with types that Dagster's config supports: a number, `str`, `bool`, a
    `Literal`, a list, a mapping, or one of these or None. For other types see `schema_of`.
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
    """Annotate a field with a type that Dagster's config lacks: `Annotated[Any, schema_of(kind)]`.

    Dagster accepts any value, and pydantic checks it as `kind`.
    """
    return GetPydanticSchema(lambda _source, handler: handler(kind))


S = TypeVar("S", bound=Settings)
C = TypeVar("C", bound=AssetConfig)


def use_settings(table: str, function: Callable[..., Any]) -> None:
    """Use the table's section of settings.yaml as defaults of a function's parameter `config`, if any.

    Args:
        table: The table of the asset.
        function: The asset's function; its annotations are changed in place.
    """
    function = inspect.unwrap(function)
    if config := function.__annotations__.get("config"):
        SECTIONS[table] = config
        function.__annotations__["config"] = with_file_defaults(table, config)


def with_file_defaults(table: str, config: type[C]) -> type[C]:
    """Create a subclass with the current values of settings.yaml as defaults.

    Args:
        table: The asset's table, which is the name of the section in the file.
        config: The class with the project's defaults.
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
    """Copy the fields of a config class, with the values of settings.yaml as defaults.

    If the file is not valid, the project's defaults are used here, and each run reports the error.

    Args:
        table: The table of the asset.
        config: The config class.

    Returns:
        The fields, as arguments of pydantic's `create_model`.
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
    """The settings of an asset in one run, and the values that override settings.yaml."""

    settings: Settings
    overridden: dict[str, Any]

    def metadata(self) -> dict[str, Any]:
        """Return the metadata of a materialization: its settings, and the overrides of this run."""
        shown: dict[str, Any] = {SHOWN_AS: dg.MetadataValue.json(self.settings.model_dump())}
        if self.overridden:
            shown["settings of this run only"] = dg.MetadataValue.json(self.overridden)
        return shown


def current_settings(table: str, config: AssetConfig | None = None) -> RunSettings:
    """Return the settings of an asset. Values of the run override settings.yaml, which overrides the
    project's defaults.

    Args:
        table: The asset's table.
        config: The asset's config in this run. A value that equals the default of its class counts as
            not given.

    Raises:
        SettingsError: settings.yaml or a value is not valid.
    """
    written = read_sections(SECTIONS)[table]
    run_values = non_default_settings(type(config), config.model_dump()) if config else {}
    file_values = check_settings(table, SECTIONS[table], written).model_dump()
    overridden = {name: value for name, value in run_values.items() if value != file_values[name]}
    return RunSettings(
        check_settings(table, SECTIONS[table], {**written, **run_values}), overridden
    )


def check_run(run_config: Mapping[str, Any]) -> None:
    """Check the config of all assets of a run, so that a wrong value fails the run at its first step.

    Raises SettingsError if a value is outside its limits.
    """
    written = read_sections(SECTIONS)
    for op, op_config in run_config.get("ops", {}).items():
        table = op.replace("__", ".", 1)
        if table in SECTIONS:
            check_settings(
                table, SECTIONS[table], {**written[table], **_literal(op_config.get("config"))}
            )


def _literal(config: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the values except those that Dagster reads from the environment (`{env: NAME}`)."""
    return {
        name: value
        for name, value in (config or {}).items()
        if not (isinstance(value, dict) and value.keys() == {"env"})
    }


def read_used_settings(instance: dg.DagsterInstance, table: str, model: type[S]) -> S:
    """Return the settings that a table's rows were made with: those of its last run, if it has run,
    else those of settings.yaml.

    Args:
        instance: Dagster's instance.
        table: The table.
        model: The class of its settings.

    Raises:
        SettingsError: The values are not valid.
    """
    values = last_reported(instance, table, SHOWN_AS)
    if values is None:
        return check_settings(table, model, read_sections(SECTIONS)[table])
    # Settings that this version no longer has are ignored.
    return model.model_validate(
        {name: values[name] for name in model.model_fields if name in values}
    )


def last_reported(instance: dg.DagsterInstance, table: str, name: str) -> Any:
    """Read a value in the metadata of the last materialization of a table.

    Args:
        instance: The Dagster instance.
        table: The table.
        name: The name of the value.

    Returns:
        The value, or None.
    """
    event = instance.get_latest_materialization_event(dg.AssetKey(table.split(".")))
    metadata = event.asset_materialization.metadata if event and event.asset_materialization else {}
    return metadata[name].value if name in metadata else None
