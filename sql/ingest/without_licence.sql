-- The share of entries without a known licence in each shard.
SELECT wit_shard, count(*) FILTER (licence IS NULL) AS n_without, n_without / count(*) AS share
FROM ingest.entries
GROUP BY wit_shard
ORDER BY wit_shard;
