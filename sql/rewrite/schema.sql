-- Rewrites: other wordings of one prompt, for the robustness of a score to style (AlignMMBench 3.2).
CREATE SCHEMA IF NOT EXISTS rewrite;

CREATE TABLE IF NOT EXISTS rewrite.rewrites (
    set_id VARCHAR NOT NULL,
    rewrite_id VARCHAR NOT NULL,
    dialogue_id VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL CHECK (ordinal > 0),
    original VARCHAR NOT NULL,
    rewrite VARCHAR NOT NULL CHECK (length(rewrite) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (dialogue_id, ordinal)
);

-- What rewriting lost, and why; `subject` is the dialogue whose question was to be rewritten.
CREATE TABLE IF NOT EXISTS rewrite.failed (
    stage VARCHAR NOT NULL CHECK (stage = 'rewrites'),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
