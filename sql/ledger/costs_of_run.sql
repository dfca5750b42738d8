-- What a run paid, by stage and by candidate where a model was evaluated, or else by model, the most expensive first.
WITH answers AS (
    SELECT a.call_key AS key, string_agg(DISTINCT c.label, ', ' ORDER BY c.label) AS label
    FROM evaluate.answers AS a
    JOIN evaluate.candidates AS c USING (release_id, model)
    GROUP BY a.call_key
)
SELECT
    stage,
    coalesce(label, model) AS model,
    count(*) AS calls,
    CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
    CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens,
    sum(cost_usd) AS cost_usd
FROM ledger.calls
LEFT JOIN answers USING (key)
WHERE run = $run
GROUP BY ALL
ORDER BY cost_usd DESC, stage, model;
