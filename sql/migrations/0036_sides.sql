-- What benchmarks and what instruction sets are made of is divided before anything is sampled.

-- The side of each image on each page; NULL if it is left out of both.
CREATE TABLE cluster.sides (
    page_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    side VARCHAR CHECK (side IN ('benchmark', 'instruction')),
    reason VARCHAR NOT NULL CHECK (
        reason IN ('drawn', 'joined', 'bridges_sides', 'in_imported_benchmark')
    ),
    PRIMARY KEY (page_id, image_id),
    CHECK ((side IS NULL) = (reason IN ('bridges_sides', 'in_imported_benchmark')))
);
