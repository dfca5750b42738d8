-- A status of its own for what no model was asked since the release lacks the picture.
CREATE TEMP TABLE observed_before AS FROM evaluate.observations;
DROP TABLE evaluate.observations;
CREATE TABLE evaluate.observations (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    replicate INTEGER NOT NULL CHECK (replicate >= 0),
    metric VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    part VARCHAR NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN (
        'judged', 'refused', 'truncated', 'reasoning_only', 'empty', 'failed', 'not_asked', 'not_judged',
        'no_reference', 'no_picture'
    )),
    value DOUBLE,
    call_key VARCHAR,
    answer_call_key VARCHAR,
    PRIMARY KEY (
        release_id, model, judge, judge_version, replicate, metric, item_id, trial, turn, part
    ),
    CHECK ((status = 'judged') = (value IS NOT NULL))
);
INSERT INTO evaluate.observations BY NAME FROM observed_before;
DROP TABLE observed_before;
