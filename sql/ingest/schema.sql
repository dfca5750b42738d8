-- Ingestion: WIT rows, rejected rows and images, and the entries made of accepted ones.
CREATE SCHEMA IF NOT EXISTS ingest;

-- Each shard as of the last time it was read, with the fingerprint of its content: an unchanged shard is
-- not read again.
CREATE TABLE IF NOT EXISTS ingest.shards (
    wit_shard VARCHAR PRIMARY KEY,
    address VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    n_rows BIGINT NOT NULL,
    reasons MAP(VARCHAR, BIGINT) NOT NULL
);

-- One WIT row with its 17 columns typed. Shard and line number are unique; there is no index on them,
-- because it takes as long as writing the rows, and a shard is replaced as a whole.
CREATE TABLE IF NOT EXISTS ingest.wit_rows (
    wit_shard VARCHAR NOT NULL,
    line_number BIGINT NOT NULL CHECK (line_number > 0),
    language VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    image_url VARCHAR NOT NULL,
    page_title VARCHAR NOT NULL,
    section_title VARCHAR,
    hierarchical_section_title VARCHAR,
    caption_reference_description VARCHAR,
    caption_attribution_description VARCHAR,
    caption_alt_text_description VARCHAR,
    mime_type VARCHAR,
    original_height BIGINT,
    original_width BIGINT,
    is_main_image BOOLEAN,
    attribution_passes_lang_id BOOLEAN,
    page_changed_recently BOOLEAN,
    context_page_description VARCHAR,
    context_section_description VARCHAR
);

-- Rejected lines of a shard (kind 'row') and files behind a URL (kind 'image'), with the reasons.
CREATE TABLE IF NOT EXISTS ingest.rejected (
    wit_shard VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('row', 'image')),
    reference VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    excerpt VARCHAR,
    PRIMARY KEY (wit_shard, kind, reference)
);

-- One Wikipedia page of a shard, with the text and the categories that its rows share. `version_ids` is NULL
-- if an earlier version ingested it.
CREATE TABLE IF NOT EXISTS ingest.pages (
    wit_shard VARCHAR NOT NULL,
    page_id VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    page_text VARCHAR NOT NULL,
    categories VARCHAR[] NOT NULL,
    topics VARCHAR[] NOT NULL,
    version_ids VARCHAR[],
    PRIMARY KEY (wit_shard, page_id)
);

-- A page whose text a later ingestion found changed, with both texts.
CREATE TABLE IF NOT EXISTS ingest.changes (
    run_id VARCHAR NOT NULL,
    wit_shard VARCHAR NOT NULL,
    page_id VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    changed_at TIMESTAMP NOT NULL,
    text_before VARCHAR NOT NULL,
    text_after VARCHAR NOT NULL CHECK (text_after <> text_before),
    PRIMARY KEY (run_id, wit_shard, page_id)
);

-- One image URL of a shard; its file is fetched, checked, measured and stored under its SHA-256. Width,
-- height and aspect are those of the image as displayed; the measurements are defined in
-- methods/ingest/image_quality.py.
CREATE TABLE IF NOT EXISTS ingest.images (
    wit_shard VARCHAR NOT NULL,
    image_url VARCHAR NOT NULL,
    fetched_from VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL CHECK (length(image_id) = 64),
    md5 VARCHAR NOT NULL CHECK (length(md5) = 32),
    path VARCHAR NOT NULL,
    mime_type VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    animated BOOLEAN NOT NULL,
    rotated BOOLEAN NOT NULL,
    width INTEGER NOT NULL CHECK (width > 0),
    height INTEGER NOT NULL CHECK (height > 0),
    n_bytes BIGINT NOT NULL CHECK (n_bytes > 0),
    aspect DOUBLE NOT NULL,
    blur DOUBLE NOT NULL,
    entropy DOUBLE NOT NULL CHECK (entropy BETWEEN 0 AND 8.001),
    brightness DOUBLE NOT NULL CHECK (brightness BETWEEN 0 AND 255),
    phash VARCHAR NOT NULL CHECK (length(phash) = 16),
    attribution VARCHAR,
    licence VARCHAR,
    licence_url VARCHAR,
    artist VARCHAR,
    contrast INTEGER,
    visible DOUBLE,
    stated_mime_type VARCHAR,
    rights VARCHAR,
    licence_source VARCHAR,
    PRIMARY KEY (wit_shard, image_url)
);

-- One page with one of its images: the unit that is clustered and discussed in dialogues (MMDU B.1, Figure 6).
CREATE TABLE IF NOT EXISTS ingest.entries (
    wit_shard VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    page_id VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    categories VARCHAR[] NOT NULL,
    caption VARCHAR NOT NULL,
    page_text VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    topics VARCHAR[] NOT NULL,
    attribution VARCHAR,
    licence VARCHAR,
    licence_url VARCHAR,
    artist VARCHAR,
    licence_source VARCHAR,
    PRIMARY KEY (wit_shard, entry_id)
);

-- What is no entry though nothing is wrong with it, by reason: `n_rows` rows of a shard that are in a language
-- that is not taken, on a page without text or topic, without a caption, without their image, or there twice.
-- Rows of a shard are those of its entries and these.
CREATE TABLE IF NOT EXISTS ingest.left_out (
    wit_shard VARCHAR NOT NULL,
    step VARCHAR NOT NULL CHECK (step IN ('pages', 'entries')),
    reference VARCHAR NOT NULL,
    reason VARCHAR NOT NULL CHECK (
        reason IN ('language', 'without_text', 'no_topic', 'without_caption', 'without_image', 'duplicate')
    ),
    detail VARCHAR NOT NULL,
    n_rows BIGINT NOT NULL CHECK (n_rows > 0),
    PRIMARY KEY (wit_shard, step, reference)
);
