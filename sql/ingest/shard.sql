-- A shard as of the last time it was read.
SELECT * REPLACE (map_entries(reasons) AS reasons) FROM ingest.shards WHERE wit_shard = $shard;
