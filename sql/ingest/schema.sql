-- Ingestion: WIT rows as they came, what was refused, and the entries made of what was accepted.
CREATE SCHEMA IF NOT EXISTS ingest;

-- One WIT row, its 17 columns typed (METHODS: WIT form).
CREATE TABLE IF NOT EXISTS ingest.wit_rows (
    wit_shard VARCHAR NOT NULL,
    row_id VARCHAR NOT NULL,
    line_number BIGINT NOT NULL CHECK (line_number > 1),
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
    context_section_description VARCHAR,
    PRIMARY KEY (wit_shard, line_number)
);

-- What ingestion refused, and why: kind 'row' (a line of a shard) or 'image' (a file behind a URL).
CREATE TABLE IF NOT EXISTS ingest.rejected (
    wit_shard VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('row', 'image')),
    reference VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    excerpt VARCHAR,
    PRIMARY KEY (wit_shard, kind, reference)
);

-- One Wikipedia page seen in a shard: the text and the categories that its rows share.
CREATE TABLE IF NOT EXISTS ingest.pages (
    wit_shard VARCHAR NOT NULL,
    page_id VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    page_text VARCHAR NOT NULL,
    categories VARCHAR[] NOT NULL,
    PRIMARY KEY (wit_shard, page_id)
);

-- One image URL of a shard, its file fetched, checked and stored under its SHA-256.
CREATE TABLE IF NOT EXISTS ingest.images (
    wit_shard VARCHAR NOT NULL,
    image_url VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL CHECK (length(image_id) = 64),
    path VARCHAR NOT NULL,
    mime_type VARCHAR NOT NULL,
    width INTEGER NOT NULL CHECK (width > 0),
    height INTEGER NOT NULL CHECK (height > 0),
    n_bytes BIGINT NOT NULL CHECK (n_bytes > 0),
    attribution VARCHAR,
    PRIMARY KEY (wit_shard, image_url)
);

-- One page with one of its images: what a dialogue is woven from (MMDU B.1, Figure 6).
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
    attribution VARCHAR,
    PRIMARY KEY (wit_shard, entry_id)
);
