"""What is ingested: a folder of shards, its settings, and what stands beside the shards."""
