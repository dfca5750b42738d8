"""The job `settings`, which shows and edits the workspace's `settings.yaml` in the Launchpad."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
from pydantic import ConfigDict, Field, create_model

from assets.common.failures import plain_errors
from assets.common.settings import SECTIONS, AssetConfig, fields_with_file_defaults
from methods.errors import UserError
from methods.ids import content_id
from resources.settings.asset_settings import (
    SettingsError,
    lock_settings,
    non_default_settings,
    read_sections,
    write_sections,
)

SHOWN = "made_from"
"""Field of the Launchpad with the hash of the file's content that its values come from."""


EVERYDAY: Mapping[str, Sequence[str]] = {
    "cluster.clusters": ("tau",),
    "cluster.splits": ("benchmark_share",),
    "cluster.image_sets": ("benchmark_sets", "instruction_sets"),
    "dialogue.questions": ("most_turns",),
    "rewrite.seeds": ("n_seeds",),
    "choice.items": ("n_items",),
    "choice.mmiu_items": ("n_derived",),
    "choice.translations": ("languages",),
    "quality.checks": ("model_checks",),
    "review.approved": ("require", "sample_share"),
}
"""The settings that people change most. The Launchpad shows only these: a full list is hard to read."""


class _ConfigSection(dg.Config):
    """A part of the job's config. The Launchpad shows its schema; nothing is validated with it."""

    model_config = ConfigDict(defer_build=True)


def settings_job() -> dg.JobDefinition:
    """Build the job. Its Launchpad opens with the most used settings and those in the file, as of when
    the definitions were loaded, and accepts every other setting."""
    sections = {table: _section(table, of) for table, of in SECTIONS.items()}

    @dg.op(config_schema=_by_stage(sections).to_fields_dict(), out=dg.Out(dg.Nothing))
    def save_settings(context: dg.OpExecutionContext) -> None:
        """Write the given settings to settings.yaml; all others stay unchanged."""
        with plain_errors(), lock_settings():
            before = read_sections(SECTIONS)
            if context.op_config[SHOWN] not in (None, content_id(before)):
                raise SettingsError(
                    "settings.yaml has changed since this Launchpad was opened: reload the page, or "
                    f"remove {SHOWN} and all values that are to stay as they are now."
                )
            after = {}
            for table, section in sections.items():
                stage, name = table.split(".")
                differences = non_default_settings(section, context.op_config[stage][name])
                after[table] = non_default_settings(
                    SECTIONS[table], {**before[table], **differences}
                )
            path = write_sections(SECTIONS, after)
        for line in _changes(before, after) or ["nothing has changed"]:
            context.log.info(line)
        context.add_output_metadata(
            {"file": dg.MetadataValue.path(str(path)), "settings": dg.MetadataValue.json(after)}
        )

    @dg.job(
        description="Show and edit settings.yaml, which every run reads: change values and launch.",
        config={"ops": {"save_settings": {"config": _shown()}}},
    )
    def settings() -> None:
        save_settings()

    return settings


def _section(table: str, config: type[AssetConfig]) -> type[dg.Config]:
    """Build the config of an asset's settings in the file; `write_sections` checks their limits."""
    fields = fields_with_file_defaults(table, config)
    settings = {name: field for name, field in fields.items() if name not in config.RUN_ONLY}
    return create_model(config.__name__, __base__=_ConfigSection, **settings)


def _by_stage(sections: Mapping[str, type[dg.Config]]) -> type[dg.Config]:
    """Build the config of the job: sections by stage and asset."""
    stages: dict[str, dict[str, Any]] = {}
    for table, section in sections.items():
        stage, name = table.split(".")
        stages.setdefault(stage, {})[name] = (section, ...)
    made_from = Field(None, description="Which state of the file the values below show.")
    fields: dict[str, Any] = {SHOWN: (str | None, made_from)} | {
        stage: (create_model(stage, __base__=_ConfigSection, **assets), ...)
        for stage, assets in stages.items()
    }
    return create_model("Settings", __base__=_ConfigSection, **fields)


def _shown() -> dict[str, Any]:
    """Build the first content of the Launchpad: settings with current values, by stage and asset."""
    try:
        written = read_sections(SECTIONS)
    except UserError:
        # Launching the job reports what is wrong with the file.
        written = {}
    shown: dict[str, Any] = {
        SHOWN: content_id({table: written.get(table, {}) for table in SECTIONS})
    }
    for table, config in SECTIONS.items():
        stage, name = table.split(".")
        in_file = written.get(table, {})
        values = config(**in_file).model_dump(mode="json")
        if fields := [field for field in values if field in {*EVERYDAY.get(table, ()), *in_file}]:
            shown.setdefault(stage, {})[name] = {field: values[field] for field in fields}
    return shown


def _changes(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> list[str]:
    lines = []
    for table, values in after.items():
        defaults = SECTIONS[table]().model_dump()
        old, new = {**defaults, **before[table]}, {**defaults, **values}
        lines += [
            f"{table}.{name}: {old[name]} -> {new[name]}"
            for name in defaults
            if old[name] != new[name]
        ]
    return lines
