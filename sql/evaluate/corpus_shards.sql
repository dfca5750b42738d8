-- The largest shards: rows, entries, and rows that were left out.
SELECT
    s.wit_shard,
    s.n_rows,
    (SELECT count(*) FROM ingest.entries AS e WHERE e.wit_shard = s.wit_shard) AS n_entries,
    coalesce(list_sum(map_values(s.reasons)), 0)::BIGINT AS n_rejected,
    (SELECT coalesce(sum(l.n_rows), 0)::BIGINT FROM ingest.left_out AS l WHERE l.wit_shard = s.wit_shard) AS n_left_out
FROM ingest.shards AS s
ORDER BY s.n_rows DESC, s.wit_shard
LIMIT $n_shards;
