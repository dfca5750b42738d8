-- What came of a call, who answered it, and the replies that are no answers.
CREATE TABLE evaluate.new_answers (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN (
        'answered', 'refused', 'truncated', 'reasoning_only', 'empty', 'failed'
    )),
    answer VARCHAR,
    finish_reason VARCHAR,
    reasoning VARCHAR,
    call_key VARCHAR,
    prompt_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, item_id, turn),
    CHECK (status <> 'answered' OR answer IS NOT NULL),
    CHECK (status IN ('answered', 'refused') OR answer IS NULL)
);
INSERT INTO evaluate.new_answers BY NAME SELECT * FROM evaluate.answers;
DROP TABLE evaluate.answers;
ALTER TABLE evaluate.new_answers RENAME TO answers;

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
    n_truncated INTEGER NOT NULL,
    n_reasoning_only INTEGER NOT NULL,
    n_empty INTEGER NOT NULL,
    PRIMARY KEY (release_id, model, judge, judge_prompt_version, dimension, aggregation),
    CHECK (n_judged + n_failed + n_truncated + n_reasoning_only + n_empty <= n_turns),
    CHECK (value IS NULL OR (ci_low <= value AND value <= ci_high))
);
INSERT INTO evaluate.new_scores BY NAME SELECT *, 0 AS n_truncated, 0 AS n_reasoning_only, 0 AS n_empty FROM evaluate.scores;
DROP TABLE evaluate.scores;
ALTER TABLE evaluate.new_scores RENAME TO scores;

CREATE TABLE ledger.new_calls (
    key VARCHAR NOT NULL CHECK (length(key) > 0),
    status VARCHAR NOT NULL CHECK (status IN ('answered', 'lost')),
    provider VARCHAR NOT NULL,
    endpoint VARCHAR,
    model VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    stage VARCHAR NOT NULL,
    run VARCHAR NOT NULL,
    via VARCHAR NOT NULL CHECK (via IN ('live', 'batch')),
    outcome VARCHAR NOT NULL,
    finish_reason VARCHAR NOT NULL,
    prompt_tokens BIGINT NOT NULL CHECK (prompt_tokens >= 0),
    completion_tokens BIGINT NOT NULL CHECK (completion_tokens >= 0),
    cost_usd DOUBLE NOT NULL CHECK (cost_usd >= 0),
    seconds DOUBLE CHECK (seconds >= 0),
    attempts INTEGER CHECK (attempts >= 0),
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CHECK (status <> 'answered' OR (seconds IS NOT NULL AND attempts IS NOT NULL))
);
INSERT INTO ledger.new_calls BY NAME SELECT *, CASE WHEN status = 'answered' THEN 'answered' WHEN finish_reason = 'content_filter' THEN 'refused' ELSE 'lost' END AS outcome FROM ledger.calls;
DROP TABLE ledger.calls;
ALTER TABLE ledger.new_calls RENAME TO calls;
