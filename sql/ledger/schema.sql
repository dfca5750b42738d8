-- The ledger of model calls as a table, so that SQL can sum costs and join them with results. Requests and
-- responses stay in ledger.sqlite.
CREATE SCHEMA IF NOT EXISTS ledger;

-- One row for each call that was paid for. status 'answered': the ledger has its answer, one for a key;
-- 'lost': it gave no answer (outcome: refused, truncated, empty, ...); a key may have several. No unique index: it would
-- make every refresh four times as long, so an asset check looks for keys answered twice.
CREATE TABLE IF NOT EXISTS ledger.calls (
    key VARCHAR NOT NULL CHECK (length(key) > 0),
    status VARCHAR NOT NULL CHECK (status IN ('answered', 'lost')),
    provider VARCHAR NOT NULL,
    endpoint VARCHAR,
    model VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    stage VARCHAR NOT NULL,
    run VARCHAR NOT NULL,
    via VARCHAR NOT NULL CHECK (via IN ('live', 'batch')),
    outcome VARCHAR NOT NULL,
    finish_reason VARCHAR NOT NULL,
    prompt_tokens BIGINT NOT NULL CHECK (prompt_tokens >= 0),
    completion_tokens BIGINT NOT NULL CHECK (completion_tokens >= 0),
    cost_usd DOUBLE NOT NULL CHECK (cost_usd >= 0),
    seconds DOUBLE CHECK (seconds >= 0),
    attempts INTEGER CHECK (attempts >= 0),
    answered_as VARCHAR,
    claimed_tokens BIGINT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    image_tokens BIGINT,
    CHECK (status <> 'answered' OR (seconds IS NOT NULL AND attempts IS NOT NULL))
);
