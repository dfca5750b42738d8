-- Why a rater gave a score, and the training pairs of a critic that are made of scores with reasons.
ALTER TABLE evaluate.human_scores ADD COLUMN reason VARCHAR;

-- Training pairs of a critic: what the judge is sent about an answer, without images, and the reply that a
-- person's score and reason make. `raters` scored the answer, `chosen` gave the middle score. What hangs together
-- (group, image, question) is a block, and on one side.
CREATE TABLE evaluate.critic_pairs (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    pair_id VARCHAR NOT NULL,
    side VARCHAR NOT NULL CHECK (side IN ('train', 'test')),
    ordinal INTEGER NOT NULL CHECK (ordinal > 0),
    category VARCHAR NOT NULL,
    block VARCHAR NOT NULL,
    seed BIGINT NOT NULL,
    model VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    part VARCHAR NOT NULL,
    group_id VARCHAR NOT NULL,
    images VARCHAR[] NOT NULL,
    question VARCHAR NOT NULL,
    score INTEGER NOT NULL,
    chosen VARCHAR NOT NULL,
    raters VARCHAR[] NOT NULL CHECK (len(raters) > 0),
    origin VARCHAR NOT NULL CHECK (origin IN ('internal', 'external')),
    source VARCHAR NOT NULL,
    system VARCHAR NOT NULL,
    prompt VARCHAR NOT NULL CHECK (length(prompt) > 0),
    reply VARCHAR NOT NULL CHECK (length(reply) > 0),
    prompt_version VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, pair_id),
    UNIQUE (release_id, side, ordinal)
);

-- Scored answers of which no training pair is made.
CREATE TABLE evaluate.critic_left_out (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    part VARCHAR NOT NULL,
    reason VARCHAR NOT NULL CHECK (reason IN (
        'no_reason', 'not_whole', 'lacks_a_dimension', 'not_judged', 'unreadable', 'names_a_model', 'same_prompt'
    )),
    PRIMARY KEY (release_id, model, item_id, trial, turn, part)
);
