-- The share of entries without a known licence in each shard.
SELECT
    wit_shard,
    count(*) AS n_entries,
    count(*) FILTER (licence IS NULL) AS n_without,
    n_without / n_entries AS share
FROM ingest.entries
GROUP BY wit_shard
ORDER BY wit_shard;
