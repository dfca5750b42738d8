"""What Dagster knows of task maps."""

import dagster as dg

from extras.task_map.assets.task_map import task_map

ASSETS = [task_map]
CHECKS: list[dg.AssetChecksDefinition] = []
