-- More measures of a judge's agreement; scores of people by where they come from; agreement by label. All that
-- there was of people came from the review store.
CREATE TABLE evaluate.new_judge_quality (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    other VARCHAR NOT NULL,
    origin VARCHAR NOT NULL CHECK (origin IN ('', 'internal', 'external')),
    metric VARCHAR NOT NULL,
    level VARCHAR NOT NULL CHECK (level IN ('', 'answer', 'item', 'model')),
    measure VARCHAR NOT NULL CHECK (measure IN (
        'pearson', 'spearman', 'kendall', 'mae', 'fuzzy_accuracy', 'strict_accuracy', 'quadratic_kappa', 'mean',
        'standard_deviation', 'ceiling_rate', 'floor_rate', 'length_correlation', 'length_slope',
        'length_controlled_score', 'replicate_variance', 'variance_share_item', 'variance_share_judge',
        'variance_share_interaction', 'variance_share_replicate'
    )),
    model VARCHAR NOT NULL,
    subset_label VARCHAR NOT NULL,
    subset_value VARCHAR NOT NULL,
    n INTEGER NOT NULL CHECK (n >= 0),
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (
        release_id, judge, judge_version, other, origin, metric, level, measure, model, subset_label, subset_value
    ),
    CHECK ((value IS NULL) = (reason IS NOT NULL)),
    CHECK ((other = '') = (level = '')),
    CHECK ((other = 'people') = (origin <> '')),
    CHECK ((subset_label = '') = (subset_value = '')),
    CHECK ((ci_low IS NULL) = (ci_high IS NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= value AND value <= ci_high))
);
INSERT INTO evaluate.new_judge_quality BY NAME
SELECT
    *,
    CASE WHEN other = 'people' THEN 'internal' ELSE '' END AS origin,
    '' AS subset_label,
    '' AS subset_value
FROM evaluate.judge_quality;
DROP TABLE evaluate.judge_quality;
ALTER TABLE evaluate.new_judge_quality RENAME TO judge_quality;

-- Scores of answers that people gave elsewhere and a person imported: one of each rater and dimension. `rater` is
-- empty where the file names nobody; `content_hash` names the file that the score is from.
CREATE TABLE evaluate.human_scores (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    dimension VARCHAR NOT NULL,
    rater VARCHAR NOT NULL,
    score DOUBLE NOT NULL,
    content_hash VARCHAR NOT NULL,
    PRIMARY KEY (release_id, item_id, model, turn, dimension, rater)
);

-- The files that they are from, by the hash of the scores that each has. `counts` are its records by why they are
-- no score.
CREATE TABLE evaluate.human_score_files (
    release_id VARCHAR NOT NULL,
    content_hash VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    n_rows INTEGER NOT NULL CHECK (n_rows > 0),
    n_scores INTEGER NOT NULL CHECK (n_scores > 0),
    counts MAP(VARCHAR, INTEGER) NOT NULL,
    PRIMARY KEY (release_id, content_hash)
);

-- An answer that a judge judged again with something planted in it: `score_before` is that of the answer as it
-- is, the mean of the judge's replicates. Without a score after it there is the reason.
CREATE TABLE evaluate.probe_judgments (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    probe VARCHAR NOT NULL CHECK (probe IN ('length', 'obedience')),
    model VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    part VARCHAR NOT NULL,
    score_before DOUBLE NOT NULL,
    score_after DOUBLE,
    reason VARCHAR,
    prompt_version VARCHAR,
    answer_call_key VARCHAR,
    call_key VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, probe, model, item_id, trial, turn, part),
    CHECK ((score_after IS NULL) = (reason IS NOT NULL))
);

-- How far a judge's scores shift, in points, under what should not shift them.
CREATE TABLE evaluate.judge_probes (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    probe VARCHAR NOT NULL CHECK (probe IN ('length', 'obedience', 'self_preference', 'leniency')),
    n INTEGER NOT NULL CHECK (n >= 0),
    n_lost INTEGER NOT NULL CHECK (n_lost >= 0),
    shift DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, probe),
    CHECK ((shift IS NULL) = (reason IS NOT NULL)),
    CHECK ((n = 0) = (shift IS NULL)),
    CHECK ((ci_low IS NULL) = (ci_high IS NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= shift AND shift <= ci_high))
);
