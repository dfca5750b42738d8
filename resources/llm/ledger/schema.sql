-- The ledger's tables (SQLite). What is small stands first in a row: reading it never touches the
-- pages that long texts overflow to. `seq` is the order of commits.

CREATE TABLE IF NOT EXISTS calls (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    stage TEXT NOT NULL,
    run TEXT NOT NULL,
    via TEXT NOT NULL,
    finish_reason TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    seconds REAL NOT NULL,
    attempts INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    response TEXT NOT NULL,
    request BLOB NOT NULL
);

-- Paid for, and no answer: withheld by a filter, empty, unreadable.
CREATE TABLE IF NOT EXISTS charges (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    stage TEXT NOT NULL,
    run TEXT NOT NULL,
    via TEXT NOT NULL,
    finish_reason TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    created_at TEXT NOT NULL
);

-- Batches handed to a provider; `remote_id` is NULL until the provider has said it.
CREATE TABLE IF NOT EXISTS batches (
    batch TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    remote_id TEXT,
    status TEXT NOT NULL,
    n_requests INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    ended_at TEXT
);

-- Requests on their way through batches; a row goes when its answer is kept or its loss was told.
CREATE TABLE IF NOT EXISTS batch_items (
    key TEXT PRIMARY KEY,
    batch TEXT NOT NULL REFERENCES batches,
    submissions INTEGER NOT NULL,
    state TEXT NOT NULL,
    kind TEXT,
    detail TEXT,
    stage TEXT NOT NULL,
    run TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    request BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS items_of_batch ON batch_items (batch);

-- Which runs stopped to wait for a batch, until they have been run again.
CREATE TABLE IF NOT EXISTS batch_waits (
    run TEXT NOT NULL,
    batch TEXT NOT NULL REFERENCES batches,
    PRIMARY KEY (run, batch)
) WITHOUT ROWID;

-- Every call that was paid for, answered or lost, without its texts.
CREATE VIEW IF NOT EXISTS paid_calls AS
SELECT
    key, 'answered' AS status, provider, model, prompt_version, stage, run, via, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, seconds, attempts, created_at
FROM calls
UNION ALL
SELECT
    key, 'lost', provider, model, prompt_version, stage, run, via, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, NULL, NULL, created_at
FROM charges;
