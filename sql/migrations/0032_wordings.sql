-- Wordings of one question: what a style costs or gives, and how far the ratings of a group differ.

-- Wordings in a style less the mean of their group, over the groups that have others, too. `told_by` says
-- whether styles are labels of the release or told by rule.
CREATE TABLE evaluate.wording_effects (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    style VARCHAR NOT NULL,
    told_by VARCHAR NOT NULL CHECK (told_by IN ('label', 'rule')),
    difference DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE CHECK (p BETWEEN 0 AND 1),
    p_holm DOUBLE CHECK (p_holm BETWEEN 0 AND 1),
    n_groups INTEGER NOT NULL CHECK (n_groups >= 0),
    n_wordings INTEGER NOT NULL CHECK (n_wordings >= n_groups),
    reason VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, model, style),
    CHECK ((difference IS NULL) = (reason IS NOT NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= difference AND difference <= ci_high))
);

-- The ratings of one model over the wordings of one question; failures are at the floor.
CREATE TABLE evaluate.group_spreads (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    group_id VARCHAR NOT NULL,
    n_wordings INTEGER NOT NULL CHECK (n_wordings > 1),
    mean DOUBLE NOT NULL,
    deviation DOUBLE NOT NULL CHECK (deviation >= 0),
    lowest DOUBLE NOT NULL,
    highest DOUBLE NOT NULL CHECK (highest >= lowest),
    worst_item VARCHAR NOT NULL,
    PRIMARY KEY (release_id, judge, judge_version, model, group_id)
);
