-- The days, stages and models that cost most; those without a price by their tokens. As few columns as
-- fit beside each other in the UI's dialog, so that all rows are shown.
SELECT
    * EXCLUDE (provider, prompt_tokens, completion_tokens, cost_usd, seconds),
    prompt_tokens + completion_tokens AS tokens,
    round(cost_usd, 6) AS cost_usd,
    round(seconds, 1) AS seconds
FROM ledger.costs
ORDER BY costs.cost_usd DESC, tokens DESC, day DESC, stage, model, provider
LIMIT $n_rows;
