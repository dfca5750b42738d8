-- Calls have the tokens of images in their prompt.
ALTER TABLE calls ADD COLUMN image_tokens BIGINT;
ALTER TABLE charges ADD COLUMN image_tokens BIGINT;
DROP VIEW paid_calls;
CREATE VIEW paid_calls AS
SELECT
    key, CASE outcome WHEN 'answered' THEN 'answered' ELSE 'lost' END AS status, provider, endpoint,
    model, prompt_version, stage, run, via, outcome, finish_reason, prompt_tokens, completion_tokens,
    cost_usd, seconds, attempts, answered_as, claimed_tokens, created_at, image_tokens
FROM calls
UNION ALL
SELECT
    key, 'lost', provider, endpoint, model, prompt_version, stage, run, via, outcome, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, NULL, NULL, answered_as, claimed_tokens, created_at,
    image_tokens
FROM charges;
