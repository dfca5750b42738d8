-- Copies of one picture differ little in brightness and colour: every pair is measured anew.
DROP TABLE cluster.picture_pairs;
CREATE TABLE cluster.picture_pairs (
    first_id VARCHAR NOT NULL,
    second_id VARCHAR NOT NULL,
    coarse DOUBLE NOT NULL CHECK (coarse BETWEEN -1.001 AND 1.001),
    detail DOUBLE NOT NULL CHECK (detail BETWEEN -1.001 AND 1.001),
    common DOUBLE NOT NULL CHECK (common BETWEEN 0 AND 1),
    differing DOUBLE NOT NULL CHECK (differing BETWEEN 0 AND 1),
    is_same BOOLEAN NOT NULL,
    PRIMARY KEY (first_id, second_id),
    CHECK (first_id < second_id)
);
