-- One table of what analyses find, in place of a table each. States between two releases have version 100 without
-- it. Their findings are made again by the job evaluate.
DROP TABLE evaluate.extraction_quality;
DROP TABLE evaluate.group_spreads;
DROP TABLE evaluate.judge_quality;
DROP TABLE evaluate.language_gaps;
DROP TABLE evaluate.wording_effects;
CREATE TABLE evaluate.findings (
    analysis VARCHAR NOT NULL,
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    other VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    measure VARCHAR NOT NULL,
    subset_label VARCHAR NOT NULL,
    subset_value VARCHAR NOT NULL,
    unit VARCHAR NOT NULL,
    n INTEGER NOT NULL CHECK (n >= 0),
    n_clusters INTEGER,
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE CHECK (p BETWEEN 0 AND 1),
    p_holm DOUBLE CHECK (p_holm BETWEEN 0 AND 1),
    reason VARCHAR,
    place INTEGER NOT NULL,
    PRIMARY KEY (
        analysis, release_id, judge, judge_version, subject, other, metric, aggregation, measure, subset_label,
        subset_value, unit
    ),
    CHECK (value IS NOT NULL OR reason IS NOT NULL),
    CHECK ((subset_label = '') = (subset_value = '')),
    CHECK ((ci_low IS NULL) = (ci_high IS NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= value AND value <= ci_high))
);
