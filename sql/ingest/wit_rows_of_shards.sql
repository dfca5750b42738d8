-- The accepted rows of some shards, in the order of their files.
SELECT * FROM ingest.wit_rows WHERE list_contains($shards, wit_shard) ORDER BY wit_shard, line_number;
