"""Code that all stages share: the table decorator, partitions, progress, and generation with models."""
