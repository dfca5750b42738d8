-- A mean over turns is a micro average, a mean over dialogues a macro average.
CREATE TABLE evaluate.new_scores (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    dimension VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL CHECK (aggregation IN ('micro', 'macro')),
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    n_items INTEGER NOT NULL,
    n_turns INTEGER NOT NULL,
    n_judged INTEGER NOT NULL,
    n_failed INTEGER NOT NULL,
    n_refused INTEGER NOT NULL,
    PRIMARY KEY (release_id, model, judge, dimension, aggregation),
    CHECK (n_judged <= n_turns),
    CHECK (value IS NULL OR (ci_low <= value AND value <= ci_high))
);
INSERT INTO evaluate.new_scores
SELECT * REPLACE (
    CASE aggregation
        WHEN 'turn_mean' THEN 'micro'
        WHEN 'dialogue_mean' THEN 'macro'
        ELSE aggregation
    END AS aggregation
)
FROM evaluate.scores;
DROP TABLE evaluate.scores;
ALTER TABLE evaluate.new_scores RENAME TO scores;
