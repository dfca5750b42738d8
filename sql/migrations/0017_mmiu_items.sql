-- Questions on several images (MMIU), their pictures, and what making them lost.
CREATE TABLE choice.new_failed (
    stage VARCHAR NOT NULL CHECK (stage IN ('items', 'mmiu_items')),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
INSERT INTO choice.new_failed BY NAME SELECT * FROM choice.failed;
DROP TABLE choice.failed;
ALTER TABLE choice.new_failed RENAME TO failed;

-- MMIU: questions on several images, made of samples. `choices` in order of letter; `answer` is the letter
-- of the right one. An unanswerable question has the `strategy` that made it, and is in the group of the
-- answerable one that it was made of. What a rule made has no call.
CREATE TABLE choice.mmiu_items (
    set_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    group_id VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    image_ids VARCHAR[] NOT NULL CHECK (len(image_ids) > 0),
    context VARCHAR NOT NULL,
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    choices VARCHAR[] NOT NULL CHECK (len(choices) BETWEEN 2 AND 8),
    answer VARCHAR NOT NULL CHECK (answer IN ('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H')),
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
CREATE TABLE choice.mmiu_images (
    image_id VARCHAR NOT NULL,
    made_from VARCHAR[] NOT NULL,
    change VARCHAR,
    source VARCHAR,
    PRIMARY KEY (image_id),
    CHECK ((source IS NULL) = (len(made_from) > 0)),
    CHECK ((change IS NULL) = (source IS NOT NULL))
);
