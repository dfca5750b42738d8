-- The ledger's tables (SQLite). What is small stands first in a row: reading it never touches the
-- pages that long texts overflow to. `seq` is the order of commits. `endpoint` is who answered,
-- `model` the name that the server knows the model by. `answered_as` is the model that the reply names where
-- that is another, `claimed_tokens` the tokens that it counts where they are not believed and others were
-- estimated; both are NULL for nearly all.

-- Replies that are kept: an answer, one that its asker could not read (outcome `unread`), or what is no
-- answer and would come again (`truncated`, `reasoning_only`: the token limit was too small). One for a request.
CREATE TABLE IF NOT EXISTS calls (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    endpoint TEXT NOT NULL,
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
    request BLOB NOT NULL,
    answered_as TEXT,
    claimed_tokens INTEGER
);
CREATE INDEX IF NOT EXISTS calls_unread ON calls (stage) WHERE outcome = 'unread';

-- Paid for, no answer, and asked again next time: withheld by a filter, empty, unreadable, or a second
-- answer to a request. `response` is what came, cut.
CREATE TABLE IF NOT EXISTS charges (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    provider TEXT NOT NULL,
    endpoint TEXT NOT NULL,
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
    request BLOB NOT NULL,
    answered_as TEXT,
    claimed_tokens INTEGER
);

-- Decisions to ask anew what was answered: by a model (endpoint and name), in a stage, with a prompt; NULL
-- is any.
CREATE TABLE IF NOT EXISTS renewals (
    seq INTEGER PRIMARY KEY,
    model TEXT,
    stage TEXT,
    prompt TEXT,
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
    key, CASE outcome WHEN 'answered' THEN 'answered' ELSE 'lost' END AS status, provider, endpoint,
    model, prompt_version, stage, run, via, outcome, finish_reason, prompt_tokens, completion_tokens,
    cost_usd, seconds, attempts, answered_as, claimed_tokens, created_at
FROM calls
UNION ALL
SELECT
    key, 'lost', provider, endpoint, model, prompt_version, stage, run, via, outcome, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, NULL, NULL, answered_as, claimed_tokens, created_at
FROM charges;
