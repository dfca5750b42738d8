-- Images are compared again, by a new method, from thumbnails.
DROP TABLE cluster.picture_miniatures;
DROP TABLE cluster.picture_pairs;
CREATE TABLE cluster.picture_thumbnails (
    image_id VARCHAR PRIMARY KEY,
    version INTEGER NOT NULL,
    thumbnail BLOB NOT NULL
);

CREATE TABLE cluster.picture_pairs (
    pair_id VARCHAR PRIMARY KEY,
    first_id VARCHAR NOT NULL,
    second_id VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    common DOUBLE NOT NULL CHECK (common BETWEEN 0 AND 1),
    correlation DOUBLE NOT NULL CHECK (correlation BETWEEN -1.001 AND 1.001),
    windows DOUBLE NOT NULL CHECK (windows >= 0),
    differing DOUBLE NOT NULL CHECK (differing BETWEEN 0 AND 1),
    mark DOUBLE NOT NULL CHECK (mark BETWEEN 0 AND 1),
    is_turned BOOLEAN NOT NULL,
    is_added BOOLEAN NOT NULL,
    coarse_levels DOUBLE NOT NULL CHECK (coarse_levels BETWEEN 0.999 AND 16.001),
    levels DOUBLE NOT NULL CHECK (levels BETWEEN 0.999 AND 64.001),
    other_colour DOUBLE NOT NULL CHECK (other_colour >= 0),
    is_same BOOLEAN NOT NULL,
    CHECK (first_id < second_id)
);
