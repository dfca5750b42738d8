-- Second readings of letters, the answers whose letter people read, and how far readings can be trusted.
-- What the extractor reads in answers that a rule has read: a sample, by which the two are compared. It
-- counts in no score. Without a value there is the reason why.
CREATE TABLE evaluate.second_readings (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    extractor VARCHAR NOT NULL,
    value VARCHAR,
    reason VARCHAR,
    answer_call_key VARCHAR,
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, item_id, trial, turn),
    CHECK ((value IS NULL) = (reason IS NOT NULL))
);

-- Answers whose letter people read: as `review.queue`, without the model and without anybody's reading.
CREATE TABLE evaluate.extraction_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind = 'extraction'),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);

-- How far the reading of letters can be trusted, one figure a row. `reader` and `other` are who reads:
-- 'rule', 'extractor', 'strict' (by rule, else by the extractor), 'compat_rule', 'compat', 'people';
-- `subset` a stratum or a reason, empty for all; `model` empty for all models.
CREATE TABLE evaluate.extraction_quality (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    measure VARCHAR NOT NULL CHECK (measure IN (
        'read', 'none', 'unread', 'raw', 'cohen_kappa', 'score', 'difference'
    )),
    reader VARCHAR NOT NULL,
    other VARCHAR NOT NULL,
    subset VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    n INTEGER NOT NULL CHECK (n >= 0),
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (release_id, model, measure, reader, other, subset, metric, aggregation),
    CHECK ((value IS NULL) = (reason IS NOT NULL)),
    CHECK ((ci_low IS NULL) = (ci_high IS NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= value AND value <= ci_high))
);
