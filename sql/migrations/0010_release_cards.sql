-- Releases say how they were made; of earlier ones it is not known.
CREATE TABLE release.new_releases (
    release_id VARCHAR PRIMARY KEY,
    name VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
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
INSERT INTO release.new_releases BY NAME SELECT * FROM release.releases;
DROP TABLE release.releases;
ALTER TABLE release.new_releases RENAME TO releases;
