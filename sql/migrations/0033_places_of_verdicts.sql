-- One probe more: how the first place fares in the comparisons that scores rest on.
CREATE TABLE evaluate.new_judge_probes (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    probe VARCHAR NOT NULL CHECK (
        probe IN ('length', 'obedience', 'position', 'verdicts', 'self_preference', 'leniency')
    ),
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
INSERT INTO evaluate.new_judge_probes BY NAME SELECT * FROM evaluate.judge_probes;
DROP TABLE evaluate.judge_probes;
ALTER TABLE evaluate.new_judge_probes RENAME TO judge_probes;
