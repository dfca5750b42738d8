-- The share of entries without a known licence in each of some shards.
SELECT wit_shard, count(*) FILTER (licence IS NULL) AS n_without, n_without / count(*) AS share
FROM ingest.entries
WHERE list_contains($partitions, wit_shard)
GROUP BY wit_shard
ORDER BY wit_shard;
