-- Trials, replicates, several judges, observations; scores in three forms and by subset; comparisons, ranks.
CREATE TABLE evaluate.new_answers (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN (
        'answered', 'given', 'refused', 'truncated', 'reasoning_only', 'empty', 'failed', 'not_asked'
    )),
    answer VARCHAR,
    finish_reason VARCHAR,
    reasoning VARCHAR,
    call_key VARCHAR,
    prompt_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, item_id, trial, turn),
    CHECK (status NOT IN ('answered', 'given') OR answer IS NOT NULL),
    CHECK (status IN ('answered', 'given', 'refused') OR answer IS NULL)
);
INSERT INTO evaluate.new_answers BY NAME
SELECT a.* REPLACE (CASE WHEN n.reason IS NULL THEN a.status ELSE 'not_asked' END AS status), 'plain' AS trial
FROM evaluate.answers AS a
LEFT JOIN (
    SELECT DISTINCT release_id, model, item_id, turn, reason
    FROM evaluate.failed
    WHERE stage = 'answers' AND reason = 'not_asked'
) AS n USING (release_id, model, item_id, turn);
DROP TABLE evaluate.answers;
ALTER TABLE evaluate.new_answers RENAME TO answers;

CREATE TABLE evaluate.new_judgments (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    replicate INTEGER NOT NULL CHECK (replicate >= 0),
    provider VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    part VARCHAR NOT NULL,
    scores MAP(VARCHAR, INTEGER) NOT NULL,
    score INTEGER NOT NULL,
    explanation VARCHAR NOT NULL,
    answer_call_key VARCHAR,
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, judge, replicate, item_id, trial, turn, part)
);
INSERT INTO evaluate.new_judgments BY NAME
SELECT *, 0 AS replicate, 'plain' AS trial, 'turn' AS part FROM evaluate.judgments;
DROP TABLE evaluate.judgments;
ALTER TABLE evaluate.new_judgments RENAME TO judgments;

CREATE TABLE evaluate.new_failed (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    stage VARCHAR NOT NULL CHECK (stage IN ('answers', 'judgments')),
    asked VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
INSERT INTO evaluate.new_failed BY NAME
SELECT f.*, 'plain' AS trial, CASE f.stage WHEN 'answers' THEN f.model ELSE coalesce(j.judge, 'unknown') END AS asked
FROM evaluate.failed AS f
LEFT JOIN (
    -- Of several judges nobody knows which one it was.
    SELECT release_id, min(judge) AS judge
    FROM evaluate.judgments
    GROUP BY release_id
    HAVING count(DISTINCT judge) = 1
) AS j USING (release_id);
DROP TABLE evaluate.failed;
ALTER TABLE evaluate.new_failed RENAME TO failed;

CREATE TABLE evaluate.new_missing (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    stage VARCHAR NOT NULL CHECK (stage IN ('answers', 'judgments')),
    asked VARCHAR NOT NULL,
    n_lost INTEGER NOT NULL CHECK (n_lost > 0),
    n_turns INTEGER NOT NULL CHECK (n_turns >= n_lost),
    why VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, stage, asked)
);
INSERT INTO evaluate.new_missing BY NAME
SELECT f.*, CASE f.stage WHEN 'answers' THEN f.model ELSE coalesce(j.judge, 'unknown') END AS asked
FROM evaluate.missing AS f
LEFT JOIN (
    -- Of several judges nobody knows which one it was.
    SELECT release_id, min(judge) AS judge
    FROM evaluate.judgments
    GROUP BY release_id
    HAVING count(DISTINCT judge) = 1
) AS j USING (release_id);
DROP TABLE evaluate.missing;
ALTER TABLE evaluate.new_missing RENAME TO missing;

CREATE TABLE evaluate.new_scores (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    place INTEGER NOT NULL,
    form VARCHAR NOT NULL CHECK (form IN ('floor', 'judged', 'common')),
    subset_label VARCHAR NOT NULL,
    subset_value VARCHAR NOT NULL,
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    n_units INTEGER NOT NULL,
    n_items INTEGER NOT NULL,
    n_turns INTEGER NOT NULL,
    n_judged INTEGER NOT NULL,
    n_failed INTEGER NOT NULL,
    n_refused INTEGER NOT NULL,
    n_truncated INTEGER NOT NULL,
    n_reasoning_only INTEGER NOT NULL,
    n_empty INTEGER NOT NULL,
    PRIMARY KEY (
        release_id, model, judge, judge_version, metric, aggregation, form, subset_label, subset_value
    ),
    CHECK (n_judged + n_failed + n_truncated + n_reasoning_only + n_empty <= n_turns),
    CHECK (value IS NULL OR (ci_low <= value AND value <= ci_high))
);
-- Where every turn was judged, what failed changes nothing: that score is both forms.
INSERT INTO evaluate.new_scores BY NAME
SELECT
    * EXCLUDE (dimension, judge_prompt_version),
    dimension AS metric,
    judge_prompt_version AS judge_version,
    CASE WHEN dimension <> 'Overall Score' THEN 2 WHEN aggregation = 'micro' THEN 0 ELSE 1 END AS place,
    '' AS subset_label,
    '' AS subset_value,
    n_judged AS n_units
FROM evaluate.scores
CROSS JOIN (VALUES ('judged'), ('floor')) AS f (form)
WHERE form = 'judged' OR n_judged = n_turns;
DROP TABLE evaluate.scores;
ALTER TABLE evaluate.new_scores RENAME TO scores;

CREATE TABLE evaluate.extractions (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    extractor VARCHAR NOT NULL,
    value VARCHAR,
    answer_call_key VARCHAR,
    call_key VARCHAR,
    prompt_version VARCHAR,
    PRIMARY KEY (release_id, model, item_id, trial, turn),
    CHECK ((extractor = 'rule') = (call_key IS NULL))
);

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
        'no_reference'
    )),
    value DOUBLE,
    call_key VARCHAR,
    answer_call_key VARCHAR,
    PRIMARY KEY (
        release_id, model, judge, judge_version, replicate, metric, item_id, trial, turn, part
    ),
    CHECK ((status = 'judged') = (value IS NOT NULL))
);

CREATE TABLE evaluate.comparisons (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    form VARCHAR NOT NULL CHECK (form IN ('floor', 'common')),
    first VARCHAR NOT NULL,
    second VARCHAR NOT NULL,
    difference DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE CHECK (p BETWEEN 0 AND 1),
    p_holm DOUBLE CHECK (p_holm BETWEEN 0 AND 1),
    detectable DOUBLE,
    n_units INTEGER NOT NULL,
    n_clusters INTEGER NOT NULL,
    PRIMARY KEY (release_id, judge, judge_version, metric, aggregation, form, first, second),
    CHECK (difference IS NULL OR (ci_low <= difference AND difference <= ci_high))
);

CREATE TABLE evaluate.ranks (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    rank INTEGER CHECK (rank > 0),
    rank_low INTEGER,
    rank_high INTEGER,
    coverage DOUBLE NOT NULL CHECK (coverage BETWEEN 0 AND 1),
    why VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, metric, aggregation, model),
    CHECK ((rank IS NULL) = (why IS NOT NULL)),
    CHECK (rank IS NULL OR (rank_low <= rank AND rank <= rank_high))
);

-- What was judged becomes observations; the next run of the asset makes them of the same rows.
INSERT INTO evaluate.observations BY NAME
SELECT
    j.benchmark,
    j.release_id,
    j.model,
    j.judge,
    split_part(j.prompt_version, '+', 1) AS judge_version,
    j.replicate,
    s.metric,
    j.item_id,
    j.trial,
    j.turn,
    j.part,
    'judged' AS status,
    s.value,
    j.call_key,
    j.answer_call_key
FROM evaluate.judgments AS j
JOIN evaluate.answers AS a USING (release_id, model, item_id, trial, turn)
CROSS JOIN LATERAL (
    SELECT unnest(map_keys(j.scores)) AS metric, unnest(map_values(j.scores)) AS value
) AS s
WHERE a.call_key = j.answer_call_key;

CREATE TABLE evaluate.judge_quality (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    other VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    level VARCHAR NOT NULL CHECK (level IN ('', 'answer', 'item', 'model')),
    measure VARCHAR NOT NULL CHECK (measure IN (
        'pearson', 'spearman', 'kendall', 'mae', 'mean', 'standard_deviation', 'ceiling_rate', 'floor_rate',
        'length_correlation', 'length_slope', 'length_controlled_score', 'replicate_variance',
        'variance_share_item', 'variance_share_judge', 'variance_share_interaction',
        'variance_share_replicate'
    )),
    model VARCHAR NOT NULL,
    n INTEGER NOT NULL CHECK (n >= 0),
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, other, metric, level, measure, model),
    CHECK ((value IS NULL) = (reason IS NOT NULL)),
    CHECK ((other = '') = (level = '')),
    CHECK ((ci_low IS NULL) = (ci_high IS NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= value AND value <= ci_high))
);
