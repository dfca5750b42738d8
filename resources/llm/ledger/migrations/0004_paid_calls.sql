-- An account is what a person signs in with; the calls and charges that were paid for are paid_calls.
DROP VIEW accounts;
CREATE VIEW paid_calls AS
SELECT
    key, 'answered' AS status, provider, model, prompt_version, stage, run, via, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, seconds, attempts, created_at
FROM calls
UNION ALL
SELECT
    key, 'lost', provider, model, prompt_version, stage, run, via, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, NULL, NULL, created_at
FROM charges;
