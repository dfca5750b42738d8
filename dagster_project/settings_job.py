"""The job `settings`: the home's `settings.yaml`, shown and edited in the Launchpad.

What belongs here: the job. Reading and writing the file is `resources/settings/asset_settings.py`.
The settings themselves stand next to the assets.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from assets.common.settings import SECTIONS, config_fields
from assets.common.tables import plain_errors
from methods.errors import UserError
from methods.ids import content_id
from resources.settings.asset_settings import Settings, SettingsError, read_sections, write_sections

SHOWN = "made_from"
"""Field with which the Launchpad says which state of the file its values are."""


EVERYDAY: Mapping[str, Sequence[str]] = {
    "cluster.clusters": ("tau",),
    "cluster.sides": ("benchmark_share",),
    "cluster.image_sets": ("benchmark_sets", "instruction_sets"),
    "dialogue.questions": ("per_image", "per_set"),
    "rewrite.seeds": ("n_seeds",),
    "choice.items": ("n_items",),
    "choice.mmiu_items": ("n_derived",),
    "choice.translations": ("languages",),
    "quality.checks": ("model_checks",),
    "review.approved": ("require", "sample_share"),
}
"""What people change most. The UI sorts a Launchpad's keys, so it can only be made short."""


def settings_job() -> dg.JobDefinition:
    """The job; its Launchpad opens with what people change and what the file has, as they were when the
    definitions were loaded, and takes every other setting."""
    kept = {table: section for table, section in SECTIONS.items() if _kept_fields(section)}
    stages: dict[str, dict[str, dg.Field]] = {}
    for table, section in kept.items():
        stage, name = table.split(".")
        fields = config_fields(table, section, "given here, it is written there")
        shape = dg.Shape({field: fields[field] for field in _kept_fields(section)})
        stages.setdefault(stage, {})[name] = dg.Field(shape, is_required=False)
    schema = {
        SHOWN: dg.Field(
            str, is_required=False, description="Which state of the file the values below show."
        ),
        **{
            stage: dg.Field(dg.Shape(assets), is_required=False) for stage, assets in stages.items()
        },
    }

    @dg.op(config_schema=schema, out=dg.Out(dg.Nothing))
    def save_settings(context: dg.OpExecutionContext) -> None:
        """Write what is given here to settings.yaml; what is left out stays as it is."""
        with plain_errors():
            before = read_sections(SECTIONS)
            shown = context.op_config.get(SHOWN)
            if shown is not None and shown != content_id(before):
                raise SettingsError(
                    "settings.yaml has changed since this Launchpad was opened: reload the page, or "
                    f"remove {SHOWN} and all values that are to stay as they are now."
                )
            after = {table: dict(values) for table, values in before.items()}
            given = {stage: assets for stage, assets in context.op_config.items() if stage != SHOWN}
            for stage, assets in given.items():
                for name, values in assets.items():
                    table = f"{stage}.{name}"
                    after[table] = _differing(SECTIONS[table], {**after[table], **values})
            path = write_sections(SECTIONS, after)
        for line in _changes(before, after) or ["nothing has changed"]:
            context.log.info(line)
        context.add_output_metadata(
            {"file": dg.MetadataValue.path(str(path)), "settings": dg.MetadataValue.json(after)}
        )

    @dg.job(
        description="Show and edit settings.yaml, which every run reads: change values and launch.",
        config={"ops": {"save_settings": {"config": _shown(kept)}}},
    )
    def settings() -> None:
        save_settings()

    return settings


def _kept_fields(of: type[Settings]) -> list[str]:
    """The settings that the file may have, without those for one run only."""
    return [name for name in of.model_fields if name not in of.RUN_ONLY]


def _shown(kept: dict[str, type[Settings]]) -> dict[str, Any]:
    """What the Launchpad opens with: settings with their values of now, by stage and asset."""
    try:
        written = read_sections(SECTIONS)
    except UserError:
        # Launching the job says what is wrong with the file.
        written = {}
    shown: dict[str, Any] = {
        SHOWN: content_id({table: written.get(table, {}) for table in SECTIONS})
    }
    for table, section in kept.items():
        stage, name = table.split(".")
        in_file = written.get(table, {})
        values = section(**in_file).model_dump()
        if fields := [field for field in values if field in {*EVERYDAY.get(table, ()), *in_file}]:
            shown.setdefault(stage, {})[name] = {field: values[field] for field in fields}
    return shown


def _differing(of: type[Settings], values: dict[str, Any]) -> dict[str, Any]:
    """Those of `values` that are not the defaults."""
    return {
        name: value
        for name, value in values.items()
        if value != of.model_fields[name].get_default(call_default_factory=True)
    }


def _changes(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> list[str]:
    lines = []
    for table, values in after.items():
        defaults = SECTIONS[table]().model_dump()
        was, now = {**defaults, **before[table]}, {**defaults, **values}
        lines += [
            f"{table}.{name}: {was[name]} -> {now[name]}"
            for name in defaults
            if was[name] != now[name]
        ]
    return lines
