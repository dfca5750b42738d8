"""The asset `evaluate/task_map`."""
