-- Tests of what biases a judge are called so, and what the wording of prompts changes is prompt sensitivity.
CREATE TABLE evaluate.bias_test_judgments (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    bias_test VARCHAR NOT NULL CHECK (bias_test IN ('length', 'obedience', 'position')),
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
    PRIMARY KEY (release_id, judge, judge_version, bias_test, model, item_id, trial, turn, part),
    CHECK ((score_after IS NULL) = (reason IS NOT NULL))
);
INSERT INTO evaluate.bias_test_judgments BY NAME SELECT * EXCLUDE (probe), probe AS bias_test FROM evaluate.probe_judgments;
DROP TABLE evaluate.probe_judgments;
CREATE TABLE evaluate.judge_bias_tests (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    bias_test VARCHAR NOT NULL CHECK (
        bias_test IN ('length', 'obedience', 'position', 'verdicts', 'self_preference', 'leniency')
    ),
    n INTEGER NOT NULL CHECK (n >= 0),
    n_clusters INTEGER CHECK (n_clusters <= n),
    n_lost INTEGER NOT NULL CHECK (n_lost >= 0),
    shift DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE,
    p_holm DOUBLE CHECK (p_holm >= p),
    least DOUBLE CHECK (least > 0),
    power DOUBLE,
    detectable DOUBLE,
    verdict VARCHAR NOT NULL CHECK (verdict IN ('found', 'none', 'open')),
    reason VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, bias_test),
    CHECK ((shift IS NULL) = (reason IS NOT NULL)),
    CHECK ((n = 0) = (shift IS NULL)),
    CHECK ((ci_low IS NULL) = (ci_high IS NULL)),
    CHECK ((p IS NULL) = (p_holm IS NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= shift AND shift <= ci_high))
);
INSERT INTO evaluate.judge_bias_tests BY NAME SELECT * EXCLUDE (probe), probe AS bias_test FROM evaluate.judge_probes;
DROP TABLE evaluate.judge_probes;
DROP VIEW IF EXISTS evaluate.wording_effects;
UPDATE evaluate.findings SET analysis = 'prompt_sensitivity' WHERE analysis = 'wording_effects';
UPDATE evaluate.not_made SET step = 'evaluate.judge_bias_tests' WHERE step = 'evaluate.judge_probes';
UPDATE evaluate.not_made SET step = 'evaluate.prompt_sensitivity' WHERE step = 'evaluate.wording_effects';
UPDATE ledger.calls SET stage = 'evaluate.judge_bias_tests' WHERE stage = 'evaluate.judge_probes';
