-- What benchmarks and instruction sets share is left out of the one or the other, and named here.
CREATE TABLE release.overlaps (
    name VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER CHECK (turn > 0),
    kind VARCHAR NOT NULL CHECK (kind IN ('page', 'image', 'near_duplicate', 'question', 'answer')),
    what VARCHAR NOT NULL,
    other_release_id VARCHAR NOT NULL,
    other_item_id VARCHAR NOT NULL
);
