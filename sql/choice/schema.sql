-- Multiple-choice items: written from entries (MMBench, 3.2), and made of metadata (MMIU, 3.2).
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

-- What making and translating items lost, and why; `subject` is the entry and the ability or task that it
-- was asked for, the item and the language, or the sample of a metadata file.
CREATE TABLE IF NOT EXISTS choice.failed (
    stage VARCHAR NOT NULL CHECK (stage IN ('items', 'mmiu_items', 'translations')),
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

-- MMIU: questions on several images, made of samples. `choices` in order of letter; `answer` is the letter
-- of the right one. An unanswerable question has the `strategy` that made it, and is in the group of the
-- answerable one that it was made of. What a rule made has no call.
CREATE TABLE IF NOT EXISTS choice.mmiu_items (
    set_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    group_id VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    image_ids VARCHAR[] NOT NULL CHECK (len(image_ids) > 0),
    context VARCHAR NOT NULL,
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    choices VARCHAR[] NOT NULL CHECK (len(choices) BETWEEN 2 AND 10),
    answer VARCHAR NOT NULL CHECK (answer BETWEEN 'A' AND 'J' AND length(answer) = 1),
    form VARCHAR NOT NULL CHECK (form IN ('image', 'number', 'order', 'name', 'yes/no', 'text')),
    strategy VARCHAR CHECK (strategy IN (
        'replace key word', 'replace answer image', 'replace other images', 'shuffle all images',
        'irrelevant question or images'
    )),
    call_key VARCHAR,
    prompt_version VARCHAR,
    provider VARCHAR,
    PRIMARY KEY (item_id),
    CHECK (ascii(answer) - ascii('A') < len(choices)),
    CHECK ((call_key IS NULL) = (prompt_version IS NULL)),
    CHECK ((strategy IS NULL) = (group_id = item_id))
);

-- Pictures of MMIU's items that no page has: made of those of entries, or brought with metadata.
CREATE TABLE IF NOT EXISTS choice.mmiu_images (
    image_id VARCHAR NOT NULL,
    made_from VARCHAR[] NOT NULL,
    change VARCHAR,
    source VARCHAR,
    PRIMARY KEY (image_id),
    CHECK ((source IS NULL) = (len(made_from) > 0)),
    CHECK ((change IS NULL) = (source IS NOT NULL))
);
