-- Review: what waits for people, and what they (or a named policy) let through.
CREATE SCHEMA IF NOT EXISTS review;

CREATE TABLE IF NOT EXISTS review.queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN ('dialogue', 'rewrite')),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    image_ids VARCHAR[] NOT NULL
);

-- The review store's events as they stood when last read.
CREATE TABLE IF NOT EXISTS review.decisions (
    event_id BIGINT PRIMARY KEY,
    item_id VARCHAR NOT NULL,
    content_hash VARCHAR NOT NULL,
    round INTEGER NOT NULL CHECK (round IN (1, 2)),
    reviewer VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL CHECK (verdict IN ('accept', 'edit', 'reject')),
    reason VARCHAR,
    note VARCHAR,
    decided_at VARCHAR NOT NULL
);

-- One row per item of the queue: approved, rejected or pending. Only approved items are released.
CREATE TABLE IF NOT EXISTS review.approved (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN ('approved', 'rejected', 'pending')),
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    reviewers VARCHAR[] NOT NULL,
    policy VARCHAR NOT NULL,
    reason VARCHAR
);
