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

-- A judgment is of one answer, by the call that gave it: once a model has answered anew, the judgment
-- of its earlier answer belongs to nothing.
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
    aggregation VARCHAR NOT NULL,
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
