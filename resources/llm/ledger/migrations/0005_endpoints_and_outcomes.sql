-- Who answered, what came of it, what was thought, and decisions to ask anew. The tables are made again, so
-- that what is small stays in front of the texts.
DROP VIEW paid_calls;
ALTER TABLE calls RENAME TO calls_4;
ALTER TABLE charges RENAME TO charges_4;

CREATE TABLE calls (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    endpoint TEXT,
    model TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    stage TEXT NOT NULL,
    run TEXT NOT NULL,
    via TEXT NOT NULL,
    outcome TEXT NOT NULL,
    finish_reason TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    seconds REAL NOT NULL,
    attempts INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    response TEXT NOT NULL,
    reasoning TEXT,
    request BLOB NOT NULL
);

CREATE INDEX calls_without_endpoint ON calls (provider, model) WHERE endpoint IS NULL;

CREATE TABLE charges (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    provider TEXT NOT NULL,
    endpoint TEXT,
    model TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    stage TEXT NOT NULL,
    run TEXT NOT NULL,
    via TEXT NOT NULL,
    outcome TEXT NOT NULL,
    finish_reason TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    created_at TEXT NOT NULL,
    detail TEXT NOT NULL,
    response TEXT NOT NULL,
    reasoning TEXT,
    request BLOB
);

CREATE TABLE earlier_endpoints (
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    endpoint TEXT,
    PRIMARY KEY (provider, model)
) WITHOUT ROWID;

CREATE TABLE renewals (
    seq INTEGER PRIMARY KEY,
    model TEXT,
    stage TEXT,
    prompt TEXT,
    created_at TEXT NOT NULL
);

-- Earlier versions kept every text as an answer: reasoning in front of it, texts cut off by the token limit,
-- and blanks, too (`reply.py` says what is what).
CREATE TABLE read_calls AS
WITH marked AS (
    SELECT
        *,
        ltrim(response, char(32, 9, 10, 13)) AS text,
        instr(response, '</think>') AS ends
    FROM calls_4
),
split AS (
    SELECT
        *,
        substr(text, 1, 7) = '<think>' AS opens,
        ends > 0 AND (
            substr(text, 1, 7) = '<think>'
            OR (
                instr(substr(response, 1, ends), '<think>') = 0
                AND instr(substr(response, 1, ends), '```') = 0
                AND substr(ltrim(substr(response, ends + 8), ' '), 1, 1) IN ('', char(10), char(13))
            )
        ) AS closes
    FROM marked
)
SELECT
    *,
    CASE
        WHEN closes THEN trim(substr(response, ends + 8), char(32, 9, 10, 13))
        WHEN opens THEN ''
        ELSE response
    END AS answer,
    CASE
        WHEN closes AND opens THEN trim(substr(text, 8, instr(text, '</think>') - 8), char(32, 9, 10, 13))
        WHEN closes THEN trim(substr(response, 1, ends - 1), char(32, 9, 10, 13))
        WHEN opens THEN trim(substr(text, 8), char(32, 9, 10, 13))
    END AS thought
FROM split
WHERE opens OR closes OR text = '' OR finish_reason IN ('length', 'max_tokens');

INSERT INTO calls (
    seq, key, provider, endpoint, model, prompt_version, stage, run, via, outcome, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, seconds, attempts, created_at, response, reasoning, request
)
SELECT
    c.seq, c.key, c.provider, CASE c.provider WHEN 'offline' THEN 'offline' END, c.model, c.prompt_version,
    c.stage, c.run, c.via,
    CASE
        WHEN r.key IS NULL THEN 'answered'
        WHEN trim(r.answer, char(32, 9, 10, 13)) = '' THEN 'reasoning_only'
        WHEN r.finish_reason IN ('length', 'max_tokens') THEN 'truncated'
        ELSE 'answered'
    END,
    c.finish_reason, c.prompt_tokens, c.completion_tokens, c.cost_usd, c.seconds, c.attempts, c.created_at,
    coalesce(r.answer, c.response), r.thought, c.request
FROM calls_4 AS c
LEFT JOIN read_calls AS r ON r.seq = c.seq
WHERE r.key IS NULL OR r.thought IS NOT NULL OR r.text <> ''
ORDER BY c.seq;

INSERT INTO charges (
    seq, key, provider, endpoint, model, prompt_version, stage, run, via, outcome, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, created_at, detail, response
)
SELECT
    seq, key, provider, CASE provider WHEN 'offline' THEN 'offline' END, model, prompt_version, stage, run,
    via, CASE finish_reason WHEN 'content_filter' THEN 'refused' ELSE 'lost' END, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, created_at, '', ''
FROM charges_4 ORDER BY seq;
DROP TABLE charges_4;

INSERT INTO charges (
    key, provider, endpoint, model, prompt_version, stage, run, via, outcome, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, created_at, detail, response, request
)
SELECT
    key, provider, CASE provider WHEN 'offline' THEN 'offline' END, model, prompt_version, stage, run, via,
    'empty', finish_reason, prompt_tokens, completion_tokens, cost_usd, created_at, 'The answer is blank.',
    '', request
FROM read_calls WHERE text = '' AND thought IS NULL ORDER BY seq;
DROP TABLE read_calls;
DROP TABLE calls_4;

CREATE VIEW paid_calls AS
SELECT
    key, CASE outcome WHEN 'answered' THEN 'answered' ELSE 'lost' END AS status, provider, endpoint,
    model, prompt_version, stage, run, via, outcome, finish_reason, prompt_tokens, completion_tokens,
    cost_usd, seconds, attempts, created_at
FROM calls
UNION ALL
SELECT
    key, 'lost', provider, endpoint, model, prompt_version, stage, run, via, outcome, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, NULL, NULL, created_at
FROM charges;
