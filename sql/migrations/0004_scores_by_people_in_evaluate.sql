-- Answers that people give scores to follow from judgments, and so does how far people and judges agree.
CREATE TABLE evaluate.score_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind = 'score'),
    set_id VARCHAR NOT NULL,
    bucket VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);
INSERT INTO evaluate.score_queue
SELECT item_id, kind, set_id, bucket, content, content_hash, context, image_ids
FROM review.queue
WHERE kind = 'score';
DELETE FROM review.queue WHERE kind = 'score';

CREATE TABLE evaluate.judge_agreement (
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
INSERT INTO evaluate.judge_agreement
SELECT kind, dimension, raters, measure, n_items, value, low, high, reason
FROM review.agreement
WHERE starts_with(raters, 'people|judge:');
DELETE FROM review.agreement WHERE starts_with(raters, 'people|judge:');
