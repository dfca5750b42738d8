-- Scores name the version of the judge's prompt; models whose results were not taken have a table.
CREATE TABLE evaluate.missing (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    stage VARCHAR NOT NULL CHECK (stage IN ('answers', 'judgments')),
    n_lost INTEGER NOT NULL CHECK (n_lost > 0),
    n_turns INTEGER NOT NULL CHECK (n_turns >= n_lost),
    why VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, stage)
);

CREATE TABLE evaluate.new_scores (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    dimension VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL CHECK (aggregation IN ('micro', 'macro')),
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    n_items INTEGER NOT NULL,
    n_turns INTEGER NOT NULL,
    n_judged INTEGER NOT NULL,
    n_failed INTEGER NOT NULL,
    n_refused INTEGER NOT NULL,
    PRIMARY KEY (release_id, model, judge, judge_prompt_version, dimension, aggregation),
    CHECK (n_judged <= n_turns),
    CHECK (value IS NULL OR (ci_low <= value AND value <= ci_high))
);
INSERT INTO evaluate.new_scores BY NAME
SELECT s.*, coalesce(v.judge_prompt_version, 'unknown') AS judge_prompt_version
FROM evaluate.scores AS s
LEFT JOIN (
    SELECT release_id, model, judge, min(split_part(prompt_version, '+', 1)) AS judge_prompt_version
    FROM evaluate.judgments
    GROUP BY release_id, model, judge
) AS v USING (release_id, model, judge);
DROP TABLE evaluate.scores;
ALTER TABLE evaluate.new_scores RENAME TO scores;
