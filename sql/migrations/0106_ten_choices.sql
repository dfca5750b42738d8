-- Questions with up to ten choices.
CREATE TEMP TABLE items_before AS FROM choice.mmiu_items;
DROP TABLE choice.mmiu_items;
CREATE TABLE choice.mmiu_items (
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
INSERT INTO choice.mmiu_items BY NAME FROM items_before;
DROP TABLE items_before;
