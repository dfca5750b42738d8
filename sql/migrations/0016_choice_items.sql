-- Multiple-choice items that are written from entries, and what their writing lost.
CREATE SCHEMA IF NOT EXISTS choice;

-- `choices` in order of letter; `answer` is the letter of the right one. `hint` is NULL without one.
CREATE TABLE choice.items (
    set_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    ability VARCHAR NOT NULL CHECK (length(ability) > 0),
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    hint VARCHAR CHECK (length(hint) > 0),
    choices VARCHAR[] NOT NULL CHECK (len(choices) BETWEEN 2 AND 4),
    answer VARCHAR NOT NULL CHECK (answer IN ('A', 'B', 'C', 'D')),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (item_id),
    CHECK (ascii(answer) - ascii('A') < len(choices))
);

-- What writing items lost, and why; `subject` is the entry and the ability that it was asked for.
CREATE TABLE choice.failed (
    stage VARCHAR NOT NULL CHECK (stage = 'items'),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
