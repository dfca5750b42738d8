-- The share of rejected rows and of rejected images in each of some shards.
WITH accepted AS (
    SELECT wit_shard, 'row' AS kind, count(*) AS n FROM ingest.wit_rows GROUP BY wit_shard
    UNION ALL
    SELECT wit_shard, 'image', count(*) FROM ingest.images GROUP BY wit_shard
),
lost AS (
    SELECT wit_shard, kind, count(*) AS n FROM ingest.rejected GROUP BY wit_shard, kind
)
SELECT
    wit_shard,
    kind,
    coalesce(lost.n, 0) AS n_rejected,
    coalesce(lost.n, 0) / (coalesce(lost.n, 0) + coalesce(accepted.n, 0)) AS share
FROM accepted
FULL JOIN lost USING (wit_shard, kind)
WHERE kind = $kind AND list_contains($partitions, wit_shard)
ORDER BY wit_shard;
