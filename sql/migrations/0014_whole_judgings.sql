-- Judgments with the version of the whole judging; answers with the turns that were left out.
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
    turns_left_out INTEGER CHECK (turns_left_out > 0),
    PRIMARY KEY (release_id, model, item_id, trial, turn),
    CHECK (status NOT IN ('answered', 'given') OR answer IS NOT NULL),
    CHECK (status IN ('answered', 'given', 'refused') OR answer IS NULL)
);
INSERT INTO evaluate.new_answers BY NAME SELECT * FROM evaluate.answers;
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
    judge_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, judge, replicate, item_id, trial, turn, part)
);
-- Until now a judge had one prompt, whose version was that of the judging. Replies to mmdu/judge@aa9bc1f9
-- counted as replies to mmdu/judge@4bf65a46, which differs by one line that said nothing new.
INSERT INTO evaluate.new_judgments BY NAME
SELECT
    *,
    CASE split_part(prompt_version, '+', 1)
        WHEN 'mmdu/judge@aa9bc1f9' THEN 'mmdu/judge@4bf65a46'
        ELSE split_part(prompt_version, '+', 1)
    END AS judge_version
FROM evaluate.judgments;
DROP TABLE evaluate.judgments;
ALTER TABLE evaluate.new_judgments RENAME TO judgments;
