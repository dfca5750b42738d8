-- Pictures are kept as miniatures, by which most pairs are told apart, and each row of what was compared
-- has the version of the methods: every picture is looked at anew.
DROP TABLE cluster.picture_codes;
CREATE TABLE cluster.picture_miniatures (
    image_id VARCHAR PRIMARY KEY,
    version INTEGER NOT NULL,
    grey BLOB NOT NULL CHECK (octet_length(grey) = 1024)
);
DROP TABLE cluster.picture_pairs;
CREATE TABLE cluster.picture_pairs (
    pair_id VARCHAR PRIMARY KEY,
    first_id VARCHAR NOT NULL,
    second_id VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    coarse DOUBLE NOT NULL CHECK (coarse BETWEEN -1.001 AND 1.001),
    detail DOUBLE NOT NULL CHECK (detail BETWEEN -1.001 AND 1.001),
    common DOUBLE NOT NULL CHECK (common BETWEEN 0 AND 1),
    blocks DOUBLE NOT NULL CHECK (blocks >= 0),
    differing DOUBLE NOT NULL CHECK (differing >= 0),
    is_same BOOLEAN NOT NULL,
    CHECK (first_id < second_id)
);
