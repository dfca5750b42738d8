"""Jobs on predictions that were made elsewhere: import a file, and remove it again.

What belongs here: what a person starts in the UI, or by `python -m dagster_project.predictions`. What
becomes of a file is `assets/evaluate/predictions.py`.
"""

from pathlib import Path

import dagster as dg

from assets.common.dagster_internals import DATA_VERSION_TAG
from assets.common.tables import ROW_COUNT, plain_errors
from assets.evaluate.predictions import TABLE, import_predictions, predictions, remove_predictions
from dagster_project.progress import progress_logger
from methods.ids import content_id
from resources.warehouse import Warehouse


class PredictionsConfig(dg.Config):
    """Predictions on a release, for example mmbench-dev, /mnt/preds.xlsx and my-model.

    The release is an id, a name (the one in force) or how an id begins; `model` says who made them.
    """

    release: str
    file: str
    model: str


class ContestantConfig(dg.Config):
    """The release and the model that predictions were imported under."""

    release: str
    model: str


@dg.op(
    name="take_predictions",
    description="Take a file of predictions on a release into the tables.",
)
def import_op(
    context: dg.OpExecutionContext,
    config: PredictionsConfig,
    warehouse: dg.ResourceParam[Warehouse],
) -> str:
    """Imports the file, tells what follows, and gives the sentences that say what came of it."""
    with plain_errors():
        imported = import_predictions(warehouse, config.release, Path(config.file), config.model)
        _tell(context, warehouse)
    said = imported.sentences()
    context.log.info(said)
    context.add_output_metadata(
        {"told": said, "items without a prediction": imported.n_lacking, **imported.found.counts}
    )
    return said


@dg.op(name="drop_predictions", description="Take predictions out of the tables again.")
def remove_op(
    context: dg.OpExecutionContext,
    config: ContestantConfig,
    warehouse: dg.ResourceParam[Warehouse],
) -> str:
    """Removes the predictions and the answers made of them; gives the release's id."""
    with plain_errors():
        release_id = remove_predictions(warehouse, config.release, config.model)
        _tell(context, warehouse)
    context.log.info(f"{config.model} has no predictions on {release_id} any more")
    return release_id


def _tell(context: dg.OpExecutionContext, warehouse: Warehouse) -> None:
    """`evaluate/predictions` as it is now, so that what follows sees whether it has changed."""
    version = content_id(warehouse.fingerprint(TABLE))
    context.log_event(
        dg.AssetMaterialization(
            predictions.key,
            metadata={ROW_COUNT: warehouse.count(TABLE)},
            tags={DATA_VERSION_TAG: version},
        )
    )


@dg.job(
    name="import_predictions",
    description="Reads predictions that a model made elsewhere; run evaluate next, which scores them.",
    logger_defs={"console": progress_logger},
)
def import_predictions_job() -> None:
    """One op; its config has the release, the file and the model."""
    import_op()


@dg.job(
    name="remove_predictions",
    description="Removes imported predictions with their answers; run evaluate next.",
    logger_defs={"console": progress_logger},
)
def remove_predictions_job() -> None:
    """One op; its config has the release and the model."""
    remove_op()


PREDICTION_JOBS = [import_predictions_job, remove_predictions_job]
