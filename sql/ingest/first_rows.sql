-- Some rows of a shard, for the run's preview.
SELECT * FROM ingest.wit_rows WHERE wit_shard = $shard LIMIT 6;
