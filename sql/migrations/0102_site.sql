-- Pages with every item of a release.
CREATE TABLE evaluate.site (
    release_id VARCHAR PRIMARY KEY,
    path VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    n_items INTEGER NOT NULL,
    n_pictures INTEGER NOT NULL,
    n_missing INTEGER NOT NULL
);
