"""The Dagster definitions of task maps."""

import dagster as dg

from extras.task_map.assets.task_clusters import task_clusters
from extras.task_map.assets.task_map import task_map

ASSETS = [task_map, task_clusters]
CHECKS: list[dg.AssetChecksDefinition] = []
