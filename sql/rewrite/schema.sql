-- Rewrites: other wordings of one prompt, for the robustness of a score to style (AlignMMBench 3.2).
CREATE SCHEMA IF NOT EXISTS rewrite;

CREATE TABLE IF NOT EXISTS rewrite.prompts (
    bucket VARCHAR NOT NULL,
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
