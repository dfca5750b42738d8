-- A form of its own for scores that count what no model was asked for want of its picture as lost.
CREATE TEMP TABLE scored_before AS FROM evaluate.scores;
DROP TABLE evaluate.scores;
CREATE TABLE evaluate.scores (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    place INTEGER NOT NULL,
    form VARCHAR NOT NULL CHECK (form IN ('floor', 'judged', 'common', 'all_items')),
    subset_label VARCHAR NOT NULL,
    subset_value VARCHAR NOT NULL,
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    n_units INTEGER NOT NULL,
    n_items INTEGER NOT NULL,
    n_turns INTEGER NOT NULL,
    n_judged INTEGER NOT NULL,
    n_failed INTEGER NOT NULL,
    n_refused INTEGER NOT NULL,
    n_truncated INTEGER NOT NULL,
    n_reasoning_only INTEGER NOT NULL,
    n_empty INTEGER NOT NULL,
    n_clusters INTEGER,
    method VARCHAR,
    seed BIGINT,
    PRIMARY KEY (
        release_id, model, judge, judge_version, metric, aggregation, form, subset_label, subset_value
    ),
    CHECK (n_judged + n_failed + n_truncated + n_reasoning_only + n_empty <= n_turns),
    CHECK (value IS NULL OR (ci_low <= value AND value <= ci_high))
);
INSERT INTO evaluate.scores BY NAME FROM scored_before;
DROP TABLE scored_before;
