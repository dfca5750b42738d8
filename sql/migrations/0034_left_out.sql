-- What the filters of ingestion leave out, and two more measurements of images. What was measured before has
-- none of them until ingestion is run again.
ALTER TABLE ingest.images ADD COLUMN contrast INTEGER;
ALTER TABLE ingest.images ADD COLUMN visible DOUBLE;
ALTER TABLE ingest.images ADD COLUMN stated_mime_type VARCHAR;

CREATE TABLE ingest.left_out (
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
