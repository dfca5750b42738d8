-- Pairs of answers for people to compare, and the image tokens of calls.
CREATE TEMP TABLE queue_before AS FROM evaluate.score_queue;
DROP TABLE evaluate.score_queue;
CREATE TABLE evaluate.score_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN ('score', 'pair')),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);
INSERT INTO evaluate.score_queue BY NAME FROM queue_before;
DROP TABLE queue_before;
ALTER TABLE ledger.calls ADD COLUMN image_tokens BIGINT;
