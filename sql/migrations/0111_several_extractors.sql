-- Readings by several extractors of one answer.
CREATE TEMP TABLE readings_before AS FROM evaluate.second_readings;
DROP TABLE evaluate.second_readings;
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
    PRIMARY KEY (release_id, model, item_id, trial, turn, extractor),
    CHECK ((value IS NULL) = (reason IS NOT NULL))
);
INSERT INTO evaluate.second_readings BY NAME FROM readings_before;
DROP TABLE readings_before;
