-- What share of the entries of some shards has no known licence.
SELECT wit_shard, count(*) FILTER (licence IS NULL) AS n_without, n_without / count(*) AS share
FROM ingest.entries
WHERE list_contains($partitions, wit_shard)
GROUP BY wit_shard
ORDER BY wit_shard;
