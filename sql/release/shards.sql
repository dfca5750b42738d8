-- The shards that were read, with the hash of their content.
SELECT wit_shard, fingerprint FROM ingest.shards ORDER BY wit_shard;
