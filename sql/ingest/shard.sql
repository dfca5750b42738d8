-- A shard as it was last read.
SELECT * REPLACE (map_entries(reasons) AS reasons) FROM ingest.shards WHERE wit_shard = $shard;
