-- Images that were left out of a question at random; models compared by ability, filled when comparisons are made
-- anew.
ALTER TABLE evaluate.answers ADD COLUMN images_left_out INTEGER;

CREATE TABLE evaluate.ability_comparisons (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    subset_label VARCHAR NOT NULL,
    subset_value VARCHAR NOT NULL,
    first VARCHAR NOT NULL,
    second VARCHAR NOT NULL,
    difference DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE CHECK (p BETWEEN 0 AND 1),
    p_holm DOUBLE CHECK (p_holm BETWEEN 0 AND 1),
    n_units INTEGER NOT NULL,
    n_clusters INTEGER NOT NULL,
    PRIMARY KEY (release_id, judge, judge_version, subset_label, subset_value, first, second),
    CHECK (difference IS NULL OR (ci_low <= difference AND difference <= ci_high))
);
