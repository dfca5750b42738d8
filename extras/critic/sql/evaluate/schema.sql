-- Scored answers of which no training pair is made.
CREATE TABLE IF NOT EXISTS evaluate.critic_left_out (
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
