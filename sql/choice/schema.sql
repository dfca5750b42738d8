-- Multiple-choice items that are written from entries (MMBench, 3.2).
CREATE SCHEMA IF NOT EXISTS choice;

-- `choices` in order of letter; `answer` is the letter of the right one. `hint` is NULL without one.
CREATE TABLE IF NOT EXISTS choice.items (
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

-- What writing and translating items lost, and why; `subject` is the entry and the ability, or the item and
-- the language, that it was asked for.
CREATE TABLE IF NOT EXISTS choice.failed (
    stage VARCHAR NOT NULL CHECK (stage IN ('items', 'translations')),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);

-- Items in other languages: `choices` in the order of the item's. `source_hash` is the hash of the item's
-- content as people review it: a translation of an item that has another content by now is stale. `names` has
-- names of the item and what stands for each.
CREATE TABLE IF NOT EXISTS choice.translations (
    set_id VARCHAR NOT NULL,
    translation_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    language VARCHAR NOT NULL CHECK (length(language) > 0),
    source_hash VARCHAR NOT NULL,
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    hint VARCHAR CHECK (length(hint) > 0),
    choices VARCHAR[] NOT NULL CHECK (len(choices) BETWEEN 2 AND 4),
    names MAP(VARCHAR, VARCHAR) NOT NULL,
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (translation_id),
    UNIQUE (item_id, language)
);
