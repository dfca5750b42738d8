"""Ingestion of several shards, one run for each. A failed shard does not stop the others."""

import math
from collections.abc import Callable, Mapping, Sequence

import dagster as dg

from assets.common.drops import names_with_reasons
from assets.common.partitions import wit_shards
from dagster_project.job_runs import run_job
from dagster_project.progress import is_failed_check, is_store_away, root_cause, why_step_failed
from dagster_project.resources import SAMPLE_CORPUS
from dagster_project.shards import observation, observation_of_files
from methods.errors import UserError, printable
from methods.naming import nearest
from resources.corpus.corpus import Corpus
from resources.corpus.observation import ShardState, observe, observe_files
from resources.corpus.shard import replaced_address
from resources.files.atomic import write_atomically
from resources.files.home import corpus_record_path
from resources.migrations import StoreLost
from resources.warehouse.configured import warehouse_of_home

RANGE = "..."
"""Separator of the first and the last shard of a range, as in the UI."""


def shards_of(corpus: Corpus) -> list[str]:
    """Return the names of the corpus's shards. Raises UserError if it has none."""
    shards = corpus.shards()
    if not shards:
        none = f"There are no shards (*.tsv, *.tsv.gz, *.parquet) in {corpus.path}."
        raise UserError(" ".join(filter(None, [none, corpus.left_out()])))
    return shards


def chosen_shards(named: Sequence[str], shards: Sequence[str]) -> list[str]:
    """Resolve names and ranges of shards that the user gave.

    Args:
        named: Names of shards, or ranges `first...last` in the order of the corpus; empty for all
            shards.
        shards: The shards of the corpus, in order.

    Returns:
        Each shard once, in the corpus's order.

    Raises:
        UserError: A shard is unknown, or a range ends before it begins.
    """
    places = {shard: place for place, shard in enumerate(shards)}
    chosen = set() if named else {*shards}
    for name in named:
        first, _, last = name.partition(RANGE) if name not in places else (name, "", "")
        for shard in (first, last or first):
            if shard not in places:
                raise UserError(f"The corpus has no shard {shard!r}; {nearest(shard, shards)}.")
        between = shards[places[first] : places[last or first] + 1]
        if not between:
            raise UserError(f"The range {name} ends before it begins: write {last}{RANGE}{first}.")
        chosen |= {*between}
    return [shard for shard in shards if shard in chosen]


def register_shards(
    instance: dg.DagsterInstance, corpus: Corpus, shards: Sequence[str]
) -> dict[str, ShardState]:
    """Register the shards as partitions, and report the current content of local files to Dagster.

    The workspace remembers the folder of the corpus, so that later commands need no --corpus.

    Args:
        instance: Where runs are recorded.
        corpus: The corpus of the shards.
        shards: Names of shards.

    Returns:
        The observed state of each shard that is a local file.

    Raises:
        CorpusError: The tables have rows of another shard with the same name.
    """
    observed = observe(corpus, {}, math.inf)
    states = {shard: observed[shard] for shard in shards if shard in observed}
    earlier = warehouse_of_home().select("ingest.shards", "wit_shard", "address", "fingerprint")
    for row in earlier.to_pylist():
        if content := states.get(row["wit_shard"]):
            replaced_address(corpus.shard(row["wit_shard"]), content.fingerprint, row)
    if corpus.path != SAMPLE_CORPUS:
        write_atomically(corpus_record_path(), f"{corpus.path.resolve()}\n".encode())
    instance.add_dynamic_partitions(str(wit_shards.name), list(shards))
    for shard, content in states.items():
        instance.report_runless_asset_event(observation(shard, content))
    instance.report_runless_asset_event(observation_of_files(observe_files(corpus)))
    return states


def ingest_each(
    job: dg.JobDefinition,
    instance: dg.DagsterInstance,
    shards: Sequence[str],
    say: Callable[[str], None],
    tags: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Run the job `ingest` for each of the shards, one after the other.

    Args:
        job: The job.
        instance: Where the runs are recorded.
        shards: Names of shards, which are partitions of the instance (`register_shards`).
        say: Receives a message when a shard begins or is left out.
        tags: Tags of the runs.

    Returns:
        The reason of each shard that failed, by its name.

    Raises:
        StoreLost: A store's server went away.
    """
    failed = {}
    for shard in shards:
        say(f"stage ingest {shard}")
        result = run_job(job, instance, tags=tags, partition=shard)
        if not result.success:
            failed[shard] = why_failed(result)
            if any(map(is_store_away, result.all_events)):
                # It is no property of the shard, and what is built without the shard is paid for.
                raise StoreLost(failed[shard])
            say(f"shard {shard} is left out; the others go on")
    return failed


def why_failed(result: dg.ExecuteInProcessResult) -> str:
    """Describe why a run failed: the message of its first failed step, or its failed checks."""
    checks = [
        f"check {check.check_name} of {check.asset_key.to_user_string()}: {check.description}"
        for check in result.get_asset_check_evaluations()
        if is_failed_check(check)
    ]
    if checks:
        return ", ".join(checks)
    for event in result.all_events:
        if why := why_step_failed(event):
            return why
        if event.is_resource_init_failure and event.engine_event_data.error:
            return root_cause(event.engine_event_data.error)
    return f"see its run {result.run_id}"


def failed_shards(failed: Mapping[str, str], n_shards: int) -> str:
    """Say which shards could not be ingested.

    Args:
        failed: The reason by shard.
        n_shards: The number of all shards.

    Returns:
        One sentence, printable.
    """
    n_others = n_shards - len(failed)
    others = f" The other {n_others} {'was' if n_others == 1 else 'were'}." if n_others else ""
    reasons = names_with_reasons(failed)
    return printable(
        f"{len(failed)} of {n_shards} shards could not be ingested: {reasons}.{others}"
    )
