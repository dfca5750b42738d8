-- Releases: frozen, versioned by content. Every benchmark, built or imported, is rows of these tables.
CREATE SCHEMA IF NOT EXISTS release;

-- The review policy says of which items people's decisions were demanded (none, sample, all), and of
-- what share of all items.
CREATE TABLE IF NOT EXISTS release.releases (
    release_id VARCHAR PRIMARY KEY,
    name VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    n_items INTEGER NOT NULL,
    n_turns INTEGER NOT NULL,
    n_images INTEGER NOT NULL,
    review_policy VARCHAR NOT NULL CHECK (review_policy IN ('none', 'sample', 'all')),
    review_share DOUBLE NOT NULL CHECK (review_share BETWEEN 0 AND 1),
    provider VARCHAR NOT NULL,
    created_at VARCHAR NOT NULL
);

-- Which release of each name is the one in force.
CREATE TABLE IF NOT EXISTS release.current (
    name VARCHAR PRIMARY KEY,
    release_id VARCHAR NOT NULL
);

CREATE TABLE IF NOT EXISTS release.items (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    reviewers VARCHAR[] NOT NULL,
    PRIMARY KEY (release_id, item_id)
);

-- One user turn; `image_positions` are the item's images that enter the dialogue with it. The call
-- and the prompt that made it are written in: a release stays whole when its sources are rebuilt.
CREATE TABLE IF NOT EXISTS release.turns (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    question VARCHAR NOT NULL,
    image_positions INTEGER[] NOT NULL,
    call_key VARCHAR,
    prompt_version VARCHAR,
    PRIMARY KEY (release_id, item_id, turn)
);

CREATE TABLE IF NOT EXISTS release.references (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    reference VARCHAR NOT NULL,
    call_key VARCHAR,
    prompt_version VARCHAR,
    PRIMARY KEY (release_id, item_id, turn)
);

CREATE TABLE IF NOT EXISTS release.images (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    position INTEGER NOT NULL CHECK (position > 0),
    image_id VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    attribution VARCHAR,
    licence VARCHAR,
    licence_url VARCHAR,
    artist VARCHAR,
    PRIMARY KEY (release_id, item_id, position)
);

-- Files a release was written to, each with its SHA-256.
CREATE TABLE IF NOT EXISTS release.exports (
    release_id VARCHAR NOT NULL,
    path VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    n_bytes BIGINT NOT NULL,
    PRIMARY KEY (release_id, path)
);
