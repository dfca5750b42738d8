-- The benchmark and the instruction part of the corpus are splits, as are the parts of a critic's training pairs.
CREATE TABLE cluster.splits (
    page_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    split VARCHAR CHECK (split IN ('benchmark', 'instruction')),
    reason VARCHAR NOT NULL CHECK (
        reason IN ('sampled', 'joined', 'bridges_splits', 'in_imported_benchmark')
    ),
    PRIMARY KEY (page_id, image_id),
    CHECK ((split IS NULL) = (reason IN ('bridges_splits', 'in_imported_benchmark')))
);
INSERT INTO cluster.splits BY NAME
SELECT
    page_id,
    image_id,
    side AS split,
    CASE reason WHEN 'drawn' THEN 'sampled' WHEN 'bridges_sides' THEN 'bridges_splits' ELSE reason END AS reason
FROM cluster.sides;
DROP VIEW IF EXISTS cluster.entry_sides;
DROP TABLE cluster.sides;
CREATE TEMP TABLE pairs_before AS FROM evaluate.critic_pairs;
DROP TABLE evaluate.critic_pairs;
CREATE TABLE evaluate.critic_pairs (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    pair_id VARCHAR NOT NULL,
    split VARCHAR NOT NULL CHECK (split IN ('train', 'test', 'external')),
    ordinal INTEGER NOT NULL CHECK (ordinal > 0),
    category VARCHAR NOT NULL,
    block VARCHAR NOT NULL,
    seed BIGINT NOT NULL,
    model VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    part VARCHAR NOT NULL,
    group_id VARCHAR NOT NULL,
    images VARCHAR[] NOT NULL,
    question VARCHAR NOT NULL,
    score INTEGER NOT NULL,
    chosen VARCHAR NOT NULL,
    raters VARCHAR[] NOT NULL CHECK (len(raters) > 0),
    origin VARCHAR NOT NULL CHECK (origin IN ('internal', 'external')),
    source VARCHAR NOT NULL,
    system VARCHAR NOT NULL,
    prompt VARCHAR NOT NULL CHECK (length(prompt) > 0),
    reply VARCHAR NOT NULL CHECK (length(reply) > 0),
    prompt_version VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, pair_id),
    UNIQUE (release_id, split, ordinal)
);
INSERT INTO evaluate.critic_pairs BY NAME SELECT * EXCLUDE (side), side AS split FROM pairs_before;
DROP TABLE pairs_before;
