-- What a judge's probes show: p, what could be found, and a verdict. Earlier rows have none until it is probed anew.
CREATE TEMP TABLE probes_before AS FROM evaluate.judge_probes;
DROP TABLE evaluate.judge_probes;
CREATE TABLE evaluate.judge_probes (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    probe VARCHAR NOT NULL CHECK (
        probe IN ('length', 'obedience', 'position', 'verdicts', 'self_preference', 'leniency')
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
    PRIMARY KEY (release_id, judge, judge_version, probe),
    CHECK ((shift IS NULL) = (reason IS NOT NULL)),
    CHECK ((n = 0) = (shift IS NULL)),
    CHECK ((ci_low IS NULL) = (ci_high IS NULL)),
    CHECK ((p IS NULL) = (p_holm IS NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= shift AND shift <= ci_high))
);
INSERT INTO evaluate.judge_probes BY NAME SELECT *, 'open' AS verdict FROM probes_before;
DROP TABLE probes_before;
