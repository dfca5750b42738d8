"""Tags of runs: which runs belong together.

What belongs here: the names of tags that the project sets. Dagster's own stand in its modules.
"""

BUILD = "loom/build"
"""Tag of a stage's run: the run of `build` or of `vlm-loom demo` that it is part of."""
ONLY_OUTDATED = "loom/only_outdated"
"""Tag of a run of `build` that runs no asset after ingestion which is up to date."""
CHAIN = "loom/chain"
"""Tag of a run that goes on for others which stopped to wait: their ids, one after another."""
WAITED = "loom/waited"
"""Tag of a run that goes on for another one, which stopped to wait for batches."""
MARKED = "loom/marked"
"""Tag of a run of a shared installation that its process marked: without it a free one says nothing."""
LOCATION = "vlm-loom"
"""Name of the code location in workspace.yaml."""
LOST_SHARDS = "loom/lost_shards"
"""The sentence about shards that a build could not ingest; empty where it ingested all."""
