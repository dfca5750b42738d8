-- Evaluation: what each model answered, what the judge said of it, and the scores they come to.
CREATE SCHEMA IF NOT EXISTS evaluate;

-- status 'refused': the model declined, in its own words (answer) or by a filter (answer NULL).
CREATE TABLE IF NOT EXISTS evaluate.answers (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN ('answered', 'refused', 'failed')),
    answer VARCHAR,
    call_key VARCHAR,
    prompt_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, item_id, turn),
    CHECK (status <> 'answered' OR answer IS NOT NULL),
    CHECK (status <> 'failed' OR answer IS NULL)
);

-- A judgment is of one answer, named by the call that gave it. When a model has answered again, the
-- judgment of its earlier answer does not count.
CREATE TABLE IF NOT EXISTS evaluate.judgments (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    scores MAP(VARCHAR, INTEGER) NOT NULL,
    score INTEGER NOT NULL,
    explanation VARCHAR NOT NULL,
    answer_call_key VARCHAR NOT NULL,
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, judge, item_id, turn)
);

-- Turns without an answer or without a judgment, and why; never mixed with results.
CREATE TABLE IF NOT EXISTS evaluate.failed (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    stage VARCHAR NOT NULL CHECK (stage IN ('answers', 'judgments')),
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);

CREATE TABLE IF NOT EXISTS evaluate.scores (
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

CREATE TABLE IF NOT EXISTS evaluate.reports (
    release_id VARCHAR PRIMARY KEY,
    path VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    n_models INTEGER NOT NULL
);

-- Judged answers that people give scores to: as `review.queue`, without the model and the judge's score.
CREATE TABLE IF NOT EXISTS evaluate.score_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind = 'score'),
    set_id VARCHAR NOT NULL,
    bucket VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);

-- How far people's mean score and a judge agree (raters 'people|judge:name'): as `review.agreement`.
CREATE TABLE IF NOT EXISTS evaluate.judge_agreement (
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
