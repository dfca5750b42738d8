-- What share of a generation stage's requests each of some buckets lost. Several rows of one request
-- share its call, so calls are what is counted.
WITH made AS (
    SELECT 'summaries' AS stage, bucket, set_id, call_key FROM dialogue.summaries
    UNION ALL SELECT 'questions', bucket, set_id, call_key FROM dialogue.questions
    UNION ALL SELECT 'answers', bucket, set_id, call_key FROM dialogue.answers
    UNION ALL SELECT 'dialogues', bucket, set_id, set_id FROM dialogue.dialogues
    UNION ALL SELECT 'prompts', bucket, set_id, call_key FROM rewrite.prompts
),
made_in AS (
    SELECT bucket, count(DISTINCT (set_id, call_key)) AS n FROM made WHERE stage = $stage GROUP BY bucket
),
lost_in AS (
    SELECT bucket, count(*) AS n FROM dialogue.failed WHERE stage = $stage GROUP BY bucket
)
SELECT
    bucket,
    coalesce(lost_in.n, 0) AS n_failed,
    coalesce(lost_in.n, 0) / (coalesce(lost_in.n, 0) + coalesce(made_in.n, 0)) AS share
FROM made_in
FULL JOIN lost_in USING (bucket)
WHERE list_contains($partitions, bucket)
ORDER BY bucket;
