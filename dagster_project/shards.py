"""Dagster observations of the corpus (events with the content of shards), and a check for stale shards.

Dagster compares the content at a materialization with the current one, so a shard is also observed
before it is ingested.
"""

import math
from collections.abc import Mapping, Sequence

import dagster as dg

from assets.common.dagster_internals import DATA_VERSION_TAG
from assets.ingest import corpus_files
from assets.ingest import shards as shards_spec
from dagster_project.check_results import asset_check, result
from dagster_project.resources import ingested_shards
from methods.errors import UserError
from methods.naming import listed, number_of
from resources.corpus.corpus import Corpus
from resources.corpus.observation import ShardState, observe
from resources.warehouse import Warehouse

_SHARDS = shards_spec.key
CHECK = dg.AssetCheckKey(_SHARDS, "ingested")


def observation(shard: str, state: ShardState) -> dg.AssetObservation:
    """Make the event that reports the observed content of a shard.

    Args:
        shard: The shard.
        state: Its content.
    """
    return dg.AssetObservation(
        asset_key=_SHARDS,
        partition=shard,
        tags={DATA_VERSION_TAG: state.fingerprint},
    )


def observation_of_files(state: ShardState) -> dg.AssetObservation:
    """Observe the fingerprint of the files about shards."""
    return dg.AssetObservation(corpus_files.key, tags={DATA_VERSION_TAG: state.fingerprint})


def observed_fingerprints(instance: dg.DagsterInstance, shards: Sequence[str]) -> dict[str, str]:
    """Read the content that each shard had when it was last observed.

    Args:
        instance: The Dagster instance.
        shards: The shards.

    Returns:
        The fingerprints, without shards that were never observed.
    """
    fingerprints = {}
    for shard in shards:
        latest = dg.AssetRecordsFilter(asset_key=_SHARDS, asset_partitions=[shard])
        for record in instance.fetch_observations(latest, limit=1).records:
            event = record.asset_observation
            if event and event.tags:
                fingerprints[shard] = event.tags[DATA_VERSION_TAG]
    return fingerprints


def stale_shards(
    corpus: Corpus, observed: Mapping[str, ShardState], ingested: Mapping[str, str]
) -> str | None:
    """Describe the shards that changed or disappeared since they were ingested, with advice; None if
    there are none.

    Args:
        corpus: The corpus.
        observed: The observed state of local files.
        ingested: The fingerprint of each ingested shard.

    Raises:
        CorpusError: The corpus cannot be read.
    """
    names = corpus.shards()
    changed = [shard for shard in names if shard in ingested and shard in observed]
    changed = [shard for shard in changed if observed[shard].fingerprint != ingested[shard]]
    gone = sorted(ingested.keys() - {*names})
    sentences = []
    if changed:
        sentences.append(
            f"{number_of(len(changed), 'shard')} changed after ingestion ({listed(changed)}): run "
            "vlm-loom run ingest, or materialize these partitions of the group ingest."
        )
    if gone:
        sentences.append(
            f"{number_of(len(gone), 'shard')} of the tables {'is' if len(gone) == 1 else 'are'} not in "
            f"the corpus {corpus.path} ({listed(gone)}), and their rows stay: first check that "
            "--corpus (LOOM_CORPUS) is the right folder; then put the file back, or remove its rows "
            f"with vlm-loom workspace remove-shard {gone[0]}."
        )
    if left_out := corpus.left_out():
        sentences.append(left_out)
    return " ".join(sentences) or None


@asset_check(
    asset=_SHARDS,
    name=CHECK.name,
    description="The shards of the corpus are those that the tables have rows of, with the same "
    "content. The sensor shards reports it, too.",
)
def ingested(
    warehouse: dg.ResourceParam[Warehouse], corpus: dg.ResourceParam[Corpus]
) -> dg.AssetCheckResult:
    """Only a warning: tables made from the earlier content stay unchanged."""
    fingerprints = ingested_shards(warehouse)
    try:
        wrong = stale_shards(corpus, observe(corpus, {}, math.inf), fingerprints)
    except UserError as error:
        wrong = str(error)
    return result(wrong, {"shards with rows": len(fingerprints)}, dg.AssetCheckSeverity.WARN)


def ingested_now(wrong: str | None) -> dg.AssetCheckEvaluation:
    """The result of the check `ingested`, reported outside a run."""
    return dg.AssetCheckEvaluation(
        asset_key=CHECK.asset_key,
        check_name=CHECK.name,
        passed=wrong is None,
        severity=dg.AssetCheckSeverity.WARN,
        description=wrong,
    )
