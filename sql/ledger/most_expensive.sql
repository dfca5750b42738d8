-- The days, stages and models that cost most; those without a price by their tokens.
SELECT * REPLACE (round(cost_usd, 6) AS cost_usd, round(seconds, 1) AS seconds)
FROM ledger.costs
ORDER BY cost_usd DESC, prompt_tokens + completion_tokens DESC, day DESC, stage, model, provider
LIMIT $n_rows;
