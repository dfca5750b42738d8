"""The job that imports scores which people gave elsewhere.

What belongs here: what a person starts in the UI, or by `python -m dagster_project.human_scores`. What
becomes of a file is `assets/evaluate/human_scores.py`.
"""

from pathlib import Path

import dagster as dg

from assets.common.dagster_internals import DATA_VERSION_TAG
from assets.common.tables import ROW_COUNT, plain_errors
from assets.evaluate.human_scores import TABLE, human_scores, import_scores
from dagster_project.progress import progress_logger
from methods.ids import content_id
from resources.warehouse import Warehouse


class HumanScoresConfig(dg.Config):
    """Scores on a release, for example alignmmbench-imported and /mnt/scores.csv.

    The release is an id, a name (the one in force) or how an id begins.
    """

    release: str
    file: str


@dg.op(
    name="take_scores", description="Take a file of people's scores on a release into the tables."
)
def import_op(
    context: dg.OpExecutionContext,
    config: HumanScoresConfig,
    warehouse: dg.ResourceParam[Warehouse],
) -> str:
    """Imports the file, tells what follows, and gives the sentences that say what came of it."""
    with plain_errors():
        imported = import_scores(warehouse, config.release, Path(config.file))
    # What follows sees by the version whether the table has changed.
    context.log_event(
        dg.AssetMaterialization(
            human_scores.key,
            metadata={ROW_COUNT: warehouse.count(TABLE)},
            tags={DATA_VERSION_TAG: content_id(warehouse.fingerprint(TABLE))},
        )
    )
    said = imported.sentences()
    context.log.info(said)
    counts = {str(reason): n for reason, n in imported.found.counts.items()}
    context.add_output_metadata({"told": said, "scores": len(imported.found.scores), **counts})
    return said


@dg.job(
    name="import_scores",
    description="Reads scores that people gave elsewhere; run evaluate next, which uses them.",
    logger_defs={"console": progress_logger},
)
def import_scores_job() -> None:
    """One op; its config has the release and the file."""
    import_op()
