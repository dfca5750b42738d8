"""Settings of assets: from `settings.yaml`, and from a run's config, which overrides it for that run.

What belongs here: which assets have settings, and their form in the Launchpad. The file is
`resources/settings/asset_settings.py`. A run with a value that is not allowed is refused at its launch.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin

import dagster as dg

from assets.common.dagster_internals import (
    ConfigScalar,
    ConfigScalarKind,
    ConfigType,
    ConfigTypeKind,
    PostProcessingError,
)
from resources.settings.asset_settings import Settings, SettingsError, checked, read_sections

SECTIONS: dict[str, type[Settings]] = {}
"""Table of each asset that has settings, and their class; `table_asset` adds to it."""

S = TypeVar("S", bound=Settings)

SHOWN_AS = "settings"
"""Metadata of a materialization: the settings it was made with."""

_SCALARS = {
    bool: ConfigScalarKind.BOOL,
    int: ConfigScalarKind.INT,
    float: ConfigScalarKind.FLOAT,
    str: ConfigScalarKind.STRING,
}


class Chosen(NamedTuple):
    """The settings of one asset in one run, and those of them that the run's config gave."""

    settings: Settings
    overridden: dict[str, Any]

    def metadata(self) -> dict[str, Any]:
        """What a materialization shows: its settings, and what only this run had."""
        shown: dict[str, Any] = {SHOWN_AS: dg.MetadataValue.json(self.settings.model_dump())}
        if self.overridden:
            shown["settings of this run only"] = dg.MetadataValue.json(self.overridden)
        return shown


def choose(table: str, config: Mapping[str, Any] | None = None) -> Chosen:
    """The settings of `table` now: `config` over `settings.yaml` over the defaults.

    Raises SettingsError.
    """
    written = read_sections(SECTIONS)[table]
    given = dict(config or {})
    kept = checked(table, SECTIONS[table], written).model_dump()
    overridden = {name: value for name, value in given.items() if value != kept.get(name)}
    return Chosen(checked(table, SECTIONS[table], {**written, **given}), overridden)


def used(instance: dg.DagsterInstance, table: str, of: type[S]) -> S:
    """The settings that the rows of `table` were made with: what its last materialization shows.

    Without that, those of the file. `of` is their class. Raises SettingsError.
    """
    values = shown(instance, table)
    if values is None:
        return checked(table, of, read_sections(SECTIONS)[table])
    # A setting that a later version does not have says nothing to it.
    return of.model_validate({name: values[name] for name in of.model_fields if name in values})


def shown(instance: dg.DagsterInstance, table: str) -> dict[str, Any] | None:
    """The settings that the last materialization of `table` shows; None if it shows none."""
    value = last_reported(instance, table, SHOWN_AS)
    return value if isinstance(value, dict) else None


def last_reported(instance: dg.DagsterInstance, table: str, name: str) -> Any:
    """A value in the metadata of the last materialization of `table`; None where it has none."""
    event = instance.get_latest_materialization_event(dg.AssetKey(table.split(".")))
    metadata = event.asset_materialization.metadata if event and event.asset_materialization else {}
    return metadata[name].value if name in metadata else None


OF_ONE_RUN = "given here, it is for this run only"


def config_fields(table: str, of: type[Settings], effect: str = OF_ONE_RUN) -> dict[str, dg.Field]:
    """The Launchpad's fields for the settings of `table`; all of them may be left out.

    Args:
        table: The table of the asset.
        of: The class of its settings.
        effect: What a value in this Launchpad does, as the end of a sentence.

    Returns:
        A field for each setting, by its name.
    """
    return {
        name: dg.Field(
            _config_type(table, of, name),
            is_required=False,
            description=f"{field.description or name} Default: {field.get_default()}. "
            f"Kept in settings.yaml as {table}.{name}; {effect}.",
        )
        for name, field in of.model_fields.items()
    }


def _config_type(table: str, of: type[Settings], name: str) -> ConfigType | dg.Noneable:
    """The type of one setting; null is a value of those alone whose class has it."""
    kinds = _members(of.model_fields[name].annotation)
    if type(None) in kinds:
        return dg.Noneable(_type_of(table, of, name, [k for k in kinds if k is not type(None)]))
    return _type_of(table, of, name, kinds)


def _type_of(table: str, of: type[Settings], name: str, kinds: list[Any]) -> ConfigType:
    """The type of values of these kinds; where they are not simple, YAML of any form."""
    if all(isinstance(kind, str) for kind in kinds):
        return dg.Enum(f"{table}.{name}", [dg.EnumValue(kind) for kind in kinds])
    if len(kinds) == 1 and kinds[0] in _SCALARS:
        return _CheckedScalar(table, of, name, _SCALARS[kinds[0]])
    return _CheckedAny(table, of, name)


def _members(annotation: Any) -> list[Any]:
    """`int | None` as [int, None's type], `Literal["a", "b"]` as its values."""
    if get_origin(annotation) is Literal or type(None) in get_args(annotation):
        return list(get_args(annotation))
    return [annotation]


class _CheckedScalar(ConfigScalar):
    """A number, text or truth value that the settings' class checks when a run is launched."""

    def __init__(self, table: str, of: type[Settings], name: str, kind: ConfigScalarKind):
        self._check = _check(table, of, name)
        super().__init__(f"{table}.{name}", given_name=f"{table}.{name}", scalar_kind=kind)

    def post_process(self, value: Any) -> Any:
        return self._check(value)


class _CheckedAny(ConfigType):
    """A value of any form that the settings' class checks when a run is launched."""

    def __init__(self, table: str, of: type[Settings], name: str):
        self._check = _check(table, of, name)
        super().__init__(f"{table}.{name}", ConfigTypeKind.ANY, given_name=f"{table}.{name}")

    def post_process(self, value: Any) -> Any:
        return self._check(value)


def _check(table: str, of: type[Settings], name: str) -> Any:
    def check(value: Any) -> Any:
        try:
            checked(table, of, {name: value})
        except SettingsError as error:
            raise PostProcessingError(str(error)) from None
        return value

    return check
