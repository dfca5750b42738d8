-- The share of some models' turns without a result of a stage, by release. A refusal is not a loss.
WITH asked AS (
    SELECT release_id, model, count(*) AS n
    FROM evaluate.answers
    WHERE list_contains($partitions, model)
    GROUP BY release_id, model
),
lost AS (
    SELECT release_id, model, count(*) AS n
    FROM evaluate.failed
    WHERE stage = $stage AND reason <> 'refused'
    GROUP BY release_id, model
)
SELECT
    release_id,
    model,
    coalesce(lost.n, 0) AS n_failed,
    coalesce(lost.n, 0) / asked.n AS share
FROM asked
LEFT JOIN lost USING (release_id, model)
ORDER BY release_id, model;
