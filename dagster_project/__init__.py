"""The Dagster code location: definitions, jobs, schedules, sensors, checks and resources."""

import gc

# Loading Dagster and the definitions makes a million objects that stay: with Python's own thresholds a
# fifth of the time went into looking for what of them could be freed.
gc.set_threshold(20_000, 20, 50)
