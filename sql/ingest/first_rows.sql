-- Some rows of a shard, to look at.
SELECT * FROM ingest.wit_rows WHERE wit_shard = $shard LIMIT 6;
