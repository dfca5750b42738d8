-- The share of the requests for rewrites without a result, over some buckets together. Several rewrites
-- share a call, so calls are counted.
SELECT $stage AS stage, n_failed, n_made, n_failed / (n_failed + n_made) AS share
FROM (
    SELECT count(*) AS n_failed
    FROM rewrite.failed
    WHERE stage = $stage AND list_contains($partitions, bucket)
) AS lost, (
    SELECT count(DISTINCT (set_id, call_key)) AS n_made
    FROM rewrite.rewrites
    WHERE list_contains($partitions, bucket)
) AS kept
WHERE n_failed + n_made > 0;
