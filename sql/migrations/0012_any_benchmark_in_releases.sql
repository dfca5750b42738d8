-- Release tables hold any benchmark, built or imported. What there was is built, and answers.
CREATE TABLE release.new_releases (
    release_id VARCHAR PRIMARY KEY,
    name VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    benchmark VARCHAR,
    split VARCHAR,
    language VARCHAR,
    origin VARCHAR NOT NULL CHECK (origin IN ('built', 'imported')),
    n_items INTEGER NOT NULL,
    n_turns INTEGER NOT NULL,
    n_images INTEGER NOT NULL,
    review_policy VARCHAR NOT NULL CHECK (review_policy IN ('none', 'sample', 'all')),
    review_share DOUBLE NOT NULL CHECK (review_share BETWEEN 0 AND 1),
    provider VARCHAR NOT NULL,
    created_at VARCHAR NOT NULL,
    parent VARCHAR,
    settings JSON,
    prompt_versions VARCHAR[],
    writers VARCHAR[],
    corpus STRUCT(wit_shard VARCHAR, fingerprint VARCHAR)[],
    project_version VARCHAR
);
INSERT INTO release.new_releases BY NAME SELECT
    *,
    CASE WHEN kind = 'benchmark' THEN name END AS benchmark,
    'built' AS origin
FROM release.releases;
DROP TABLE release.releases;
ALTER TABLE release.new_releases RENAME TO releases;

CREATE TABLE release.new_items (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    set_id VARCHAR,
    group_id VARCHAR,
    ordinal INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    reviewers VARCHAR[] NOT NULL,
    labels MAP(VARCHAR, VARCHAR) NOT NULL,
    PRIMARY KEY (release_id, item_id)
);
INSERT INTO release.new_items BY NAME SELECT *, MAP {} AS labels FROM release.items;
DROP TABLE release.items;
ALTER TABLE release.new_items RENAME TO items;

CREATE TABLE release.new_turns (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    question VARCHAR NOT NULL,
    image_positions INTEGER[] NOT NULL,
    given VARCHAR,
    call_key VARCHAR,
    prompt_version VARCHAR,
    PRIMARY KEY (release_id, item_id, turn)
);
INSERT INTO release.new_turns BY NAME SELECT * FROM release.turns;
DROP TABLE release.turns;
ALTER TABLE release.new_turns RENAME TO turns;

CREATE TABLE release.new_references (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('answer', 'key', 'caption', 'focus')),
    reference VARCHAR NOT NULL,
    call_key VARCHAR,
    prompt_version VARCHAR,
    PRIMARY KEY (release_id, item_id, turn, kind)
);
INSERT INTO release.new_references BY NAME SELECT *, 'answer' AS kind FROM release.references;
DROP TABLE release.references;
ALTER TABLE release.new_references RENAME TO "references";

CREATE TABLE release.new_images (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    position INTEGER NOT NULL CHECK (position > 0),
    image_id VARCHAR NOT NULL,
    page_url VARCHAR,
    title VARCHAR,
    attribution VARCHAR,
    licence VARCHAR,
    licence_url VARCHAR,
    artist VARCHAR,
    PRIMARY KEY (release_id, item_id, position)
);
INSERT INTO release.new_images BY NAME SELECT * FROM release.images;
DROP TABLE release.images;
ALTER TABLE release.new_images RENAME TO images;

CREATE TABLE release.choices (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    position INTEGER NOT NULL CHECK (position > 0),
    choice VARCHAR NOT NULL,
    PRIMARY KEY (release_id, item_id, position)
);
