-- What everything came to, by the names it is shown under; no row while nothing was asked.
SELECT
    count(*) FILTER (status = 'answered') AS answered,
    count(*) FILTER (status = 'lost') AS lost,
    CAST(sum(prompt_tokens) AS BIGINT) AS "prompt tokens",
    CAST(sum(completion_tokens) AS BIGINT) AS "completion tokens",
    round(sum(cost_usd), 6) AS "cost (USD)"
FROM ledger.calls
HAVING count(*) > 0;
