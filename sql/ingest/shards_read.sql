-- The shards that the tables have rows of, each with the content that was read.
SELECT wit_shard, fingerprint FROM ingest.shards ORDER BY wit_shard;
