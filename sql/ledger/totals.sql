-- Totals over all calls, under the names that the UI shows; no row before the first call.
SELECT
    count(*) FILTER (status = 'answered') AS answered,
    count(*) FILTER (status = 'lost') AS lost,
    CAST(sum(prompt_tokens) AS BIGINT) AS "prompt tokens",
    CAST(sum(completion_tokens) AS BIGINT) AS "completion tokens",
    round(sum(cost_usd), 6) AS "cost (USD)"
FROM ledger.calls
HAVING count(*) > 0;
