-- What models cost: one row a day (UTC), stage, model and provider. Tokens and cost are those of all
-- calls, answered and lost. Seconds are spent waiting for answers, side by side or not; a batch counts
-- none. An answer that came from the ledger cost nothing and is not counted again; a model without a
-- price in models.yaml costs 0.
CREATE OR REPLACE VIEW ledger.costs AS
SELECT
    CAST(created_at AT TIME ZONE 'UTC' AS DATE) AS day,
    stage,
    model,
    provider,
    count(*) FILTER (status = 'answered') AS n_answered,
    count(*) FILTER (status = 'lost') AS n_lost,
    CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
    CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens,
    sum(cost_usd) AS cost_usd,
    coalesce(sum(seconds), 0) AS seconds
FROM ledger.calls
GROUP BY ALL
ORDER BY day DESC, cost_usd DESC, stage, model, provider;
