-- What models cost by stage, and by day for the last days that calls were made on; the day of what was before is NULL.
SELECT
    stage,
    if(day IN (SELECT DISTINCT day FROM ledger.costs ORDER BY day DESC LIMIT $n_days), day, NULL) AS last_day,
    sum(n_answered)::BIGINT AS n_answered,
    sum(n_lost)::BIGINT AS n_lost,
    sum(prompt_tokens)::BIGINT AS prompt_tokens,
    sum(completion_tokens)::BIGINT AS completion_tokens,
    sum(cost_usd) AS cost_usd,
    sum(seconds) AS seconds
FROM ledger.costs
GROUP BY ALL
ORDER BY stage, last_day;
