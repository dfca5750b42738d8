"""The corpus to ingest: a folder of shards, its settings, and the files beside the shards."""
