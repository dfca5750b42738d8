-- Releases: frozen, versioned by content. Every benchmark, built or imported, is rows of these tables.
CREATE SCHEMA IF NOT EXISTS release;

-- The review policy says of which items people's decisions were demanded (none, sample, all), and of
-- what share of all items. An instruction set is of no benchmark; a benchmark that was imported has a
-- name of its own. The columns from `parent` on say how the release was made the first time; what
-- is NULL is unknown, as it is for releases of earlier versions. `settings` has those of each asset that
-- made it, by table. `parent` was current under the name before. `quality` has counts of pairs by the
-- outcome of their checks and by what was found, `licences` of pictures and of items left out.
CREATE TABLE IF NOT EXISTS release.releases (
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
    project_version VARCHAR,
    quality JSON,
    licences JSON
);

-- Which release of each name is the current one: the pinned one, else the one frozen last.
CREATE TABLE IF NOT EXISTS release.current (
    name VARCHAR PRIMARY KEY,
    release_id VARCHAR NOT NULL
);

-- Items of one group belong together, such as the rewrites of one question; labels are what scores are
-- split by, such as category, task or ability.
CREATE TABLE IF NOT EXISTS release.items (
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

-- One user turn; `image_positions` are the item's images that enter the dialogue with it, `given` is
-- the assistant's turn where the benchmark sets it and no model is asked. The call and the prompt that made it are written in: a release stays whole when its sources are rebuilt.
CREATE TABLE IF NOT EXISTS release.turns (
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

-- What a multiple-choice item offers, in order of letter.
CREATE TABLE IF NOT EXISTS release.choices (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    position INTEGER NOT NULL CHECK (position > 0),
    choice VARCHAR NOT NULL,
    PRIMARY KEY (release_id, item_id, position)
);

-- What an answer is compared with: an answer, the letter of the right choice, a caption that a judge
-- reads in place of the images, what a judge should look at. What a split holds out is absent.
CREATE TABLE IF NOT EXISTS release.references (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('answer', 'key', 'caption', 'focus')),
    reference VARCHAR NOT NULL,
    call_key VARCHAR,
    prompt_version VARCHAR,
    PRIMARY KEY (release_id, item_id, turn, kind)
);

CREATE TABLE IF NOT EXISTS release.images (
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

-- Files a release was written to, each with its SHA-256.
CREATE TABLE IF NOT EXISTS release.exports (
    release_id VARCHAR NOT NULL,
    path VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    n_bytes BIGINT NOT NULL,
    PRIMARY KEY (release_id, path)
);

-- What the last freezing left out because a release of the other split has it, too; `turn` is NULL where the
-- whole item went.
CREATE TABLE IF NOT EXISTS release.overlaps (
    name VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER CHECK (turn > 0),
    kind VARCHAR NOT NULL CHECK (kind IN ('page', 'image', 'near_duplicate', 'question', 'answer')),
    what VARCHAR NOT NULL,
    other_release_id VARCHAR NOT NULL,
    other_item_id VARCHAR NOT NULL
);
