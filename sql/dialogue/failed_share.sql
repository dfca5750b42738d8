-- The share of a generation stage's requests without a result, over some buckets together: one bucket of a
-- small corpus has only a set or two. Several rows of one request share its call, so calls are counted.
WITH made AS (
    SELECT 'summaries' AS stage, bucket, set_id, call_key FROM dialogue.summaries
    UNION ALL SELECT 'questions', bucket, set_id, call_key FROM dialogue.questions
    UNION ALL SELECT 'answers', bucket, set_id, call_key FROM dialogue.answers
    UNION ALL SELECT 'dialogues', bucket, set_id, set_id FROM dialogue.dialogues
)
SELECT $stage AS stage, n_failed, n_made, n_failed / (n_failed + n_made) AS share
FROM (
    SELECT count(*) AS n_failed
    FROM dialogue.failed
    WHERE stage = $stage AND list_contains($partitions, bucket)
) AS lost, (
    SELECT count(DISTINCT (set_id, call_key)) AS n_made
    FROM made
    WHERE stage = $stage AND list_contains($partitions, bucket)
) AS kept
WHERE n_failed + n_made > 0;
