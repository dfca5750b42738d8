-- Quality: what checks by rule and by a model find in each question-answer pair of a dialogue.
CREATE SCHEMA IF NOT EXISTS quality;

-- One pair: what each check found in it, NULL where it found nothing. Of the checks by a model (from
-- `blind_answer` on) NULL says that the check was not made, and an empty list that nothing was found.
-- A check that was wanted and could not be made is named in `not_checked`, and such a pair does not pass.
CREATE TABLE IF NOT EXISTS quality.checks (
    set_id VARCHAR NOT NULL,
    dialogue_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    outcome VARCHAR NOT NULL CHECK (outcome IN ('pass', 'review', 'drop')),
    reasons VARCHAR[] NOT NULL,
    refusal VARCHAR,
    truncation VARCHAR,
    length VARCHAR,
    language VARCHAR,
    leftover VARCHAR,
    material VARCHAR,
    leak VARCHAR,
    repeated VARCHAR,
    near_duplicate VARCHAR,
    personal_data VARCHAR,
    blind_answer VARCHAR,
    blind_grade INTEGER CHECK (blind_grade BETWEEN 0 AND 10),
    other_answer VARCHAR,
    other_grade INTEGER CHECK (other_grade BETWEEN 0 AND 10),
    unsupported VARCHAR[],
    contradictions VARCHAR[],
    sensitive VARCHAR[],
    not_checked VARCHAR,
    unanswered VARCHAR[],
    PRIMARY KEY (dialogue_id, question_id),
    CHECK (not_checked IS NULL OR outcome <> 'pass')
);

-- The call behind each check by a model: one call asks about all pairs of a dialogue.
CREATE TABLE IF NOT EXISTS quality.asked (
    set_id VARCHAR NOT NULL,
    dialogue_id VARCHAR NOT NULL,
    step VARCHAR NOT NULL CHECK (step IN (
        'blind', 'other images', 'blind grades', 'other grades', 'grounding', 'texts'
    )),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (dialogue_id, step)
);

-- Checks by a model that could not be made, and why; `subject` is the dialogue and the step.
CREATE TABLE IF NOT EXISTS quality.failed (
    stage VARCHAR NOT NULL CHECK (stage IN ('checks')),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
