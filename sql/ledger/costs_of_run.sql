-- What a run paid, by stage and by entry of models.yaml where an evaluation asked it (a candidate by its label), or
-- else by model, the most expensive first. A batch is billed for the run that submitted it: its answers that came
-- since the start of this run are here, too.
WITH asked AS (
    SELECT a.call_key AS key, c.label AS name
    FROM evaluate.answers AS a
    JOIN evaluate.candidates AS c USING (release_id, model)
    UNION
    SELECT f.call_key, coalesce(c.label, f.asked)
    FROM evaluate.failed AS f
    LEFT JOIN evaluate.candidates AS c ON (c.release_id, c.model) = (f.release_id, f.asked)
    UNION
    SELECT call_key, judge FROM evaluate.judgments
    UNION
    SELECT call_key, extractor FROM evaluate.extractions
    UNION
    SELECT call_key, extractor FROM evaluate.second_readings
),

names AS (
    SELECT key, string_agg(name, ', ' ORDER BY name) AS name FROM asked WHERE key IS NOT NULL GROUP BY key
)

SELECT
    stage,
    coalesce(name, model) AS model,
    count(*) AS calls,
    CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
    CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens,
    sum(cost_usd) AS cost_usd
FROM ledger.calls
LEFT JOIN names USING (key)
WHERE
    run = $run
    OR (via = 'batch' AND stage LIKE 'evaluate.%' AND created_at >= CAST($since AS TIMESTAMP WITH TIME ZONE))
GROUP BY ALL
ORDER BY cost_usd DESC, stage, model;
