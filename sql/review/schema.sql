-- Review: the queue, the decisions of people, and the items that they (or a named policy) approved.
CREATE SCHEMA IF NOT EXISTS review;

-- One item to review: people decide on `content`, whose id is `content_hash`; `context` helps them and is
-- not decided on. The content of each kind is described in methods/review/kinds.py.
CREATE TABLE IF NOT EXISTS review.queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN (
        'dialogue', 'three_turns', 'multiple_choice', 'rewrite', 'reference', 'translation',
        'category', 'extraction', 'score'
    )),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);

-- The review store's events when they were last read. `edits_hash` is the id of the edited content: a
-- later decision on that content has it as its `content_hash`.
CREATE TABLE IF NOT EXISTS review.decisions (
    event_id BIGINT PRIMARY KEY,
    item_id VARCHAR NOT NULL,
    content_hash VARCHAR NOT NULL,
    round INTEGER NOT NULL CHECK (round IN (1, 2)),
    reviewer VARCHAR NOT NULL CHECK (reviewer NOT LIKE 'policy:%'),
    verdict VARCHAR NOT NULL CHECK (verdict IN ('accept', 'edit', 'reject', 'skip')),
    edits_hash VARCHAR,
    reason VARCHAR,
    note VARCHAR,
    decided_at VARCHAR NOT NULL,
    CHECK ((edits_hash IS NOT NULL) = (verdict = 'edit'))
);

-- One row per item that generation made: approved, rejected or pending. Only approved items are
-- released. `policy` demands people's decisions of the share `policy_share` of all items; `demanded`
-- says whether of this one. Where the policy accepted an item, its name is among the reviewers.
CREATE TABLE IF NOT EXISTS review.approved (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN ('approved', 'rejected', 'pending')),
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    reviewers VARCHAR[] NOT NULL,
    policy VARCHAR NOT NULL CHECK (policy IN ('none', 'sample', 'all')),
    policy_share DOUBLE NOT NULL CHECK (policy_share BETWEEN 0 AND 1),
    demanded BOOLEAN NOT NULL,
    reason VARCHAR
);

-- How far people agree: each two of them (raters 'a|b'), and all of them ('all'). The interval is of
-- 95 %; without a value there is the reason why.
CREATE TABLE IF NOT EXISTS review.agreement (
    kind VARCHAR NOT NULL,
    dimension VARCHAR NOT NULL,
    raters VARCHAR NOT NULL,
    measure VARCHAR NOT NULL CHECK (measure IN (
        'raw', 'cohen_kappa', 'fleiss_kappa', 'krippendorff_nominal', 'krippendorff_ordinal',
        'pearson', 'spearman', 'kendall', 'mae'
    )),
    n_items INTEGER NOT NULL CHECK (n_items >= 0),
    value DOUBLE,
    low DOUBLE,
    high DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (kind, dimension, raters, measure),
    CHECK ((value IS NULL) = (reason IS NOT NULL)),
    CHECK (value IS NULL OR (low <= value AND value <= high))
);

-- What each person did in each round: decisions, seconds for one, reasons for rejecting.
CREATE TABLE IF NOT EXISTS review.effort (
    kind VARCHAR NOT NULL,
    round INTEGER NOT NULL CHECK (round IN (1, 2)),
    reviewer VARCHAR NOT NULL,
    n_decisions INTEGER NOT NULL CHECK (n_decisions >= 0),
    n_skipped INTEGER NOT NULL CHECK (n_skipped >= 0),
    median_seconds DOUBLE CHECK (median_seconds >= 0),
    reasons MAP(VARCHAR, INTEGER) NOT NULL,
    PRIMARY KEY (kind, round, reviewer)
);
