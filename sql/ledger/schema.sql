-- The ledger of model calls as a table: what each call cost, so that cost can be asked for in SQL
-- beside what it bought. What was said stays in ledger.sqlite.
CREATE SCHEMA IF NOT EXISTS ledger;

-- One row a call that was paid for. status 'answered': its answer is in the ledger, once a key; 'lost':
-- it brought none (withheld, empty, unreadable), and may have done so several times before the answer.
-- The ledger keeps a request from being answered twice; an index here for it would make every refresh
-- four times as long, so a check looks instead.
CREATE TABLE IF NOT EXISTS ledger.calls (
    key VARCHAR NOT NULL CHECK (length(key) > 0),
    status VARCHAR NOT NULL CHECK (status IN ('answered', 'lost')),
    provider VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    stage VARCHAR NOT NULL,
    run VARCHAR NOT NULL,
    via VARCHAR NOT NULL CHECK (via IN ('live', 'batch')),
    finish_reason VARCHAR NOT NULL,
    prompt_tokens BIGINT NOT NULL CHECK (prompt_tokens >= 0),
    completion_tokens BIGINT NOT NULL CHECK (completion_tokens >= 0),
    cost_usd DOUBLE NOT NULL CHECK (cost_usd >= 0),
    seconds DOUBLE CHECK (seconds >= 0),
    attempts INTEGER CHECK (attempts >= 0),
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CHECK (status <> 'answered' OR (seconds IS NOT NULL AND attempts IS NOT NULL))
);
