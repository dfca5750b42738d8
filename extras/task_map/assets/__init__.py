"""The assets `evaluate/task_map` and `evaluate/task_clusters`."""
