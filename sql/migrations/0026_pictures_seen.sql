-- Pictures found by what they show: the keywords that were seen, and the vectors that they were seen by.
-- A CHECK cannot be altered: the table is made anew.
CREATE TABLE rewrite.new_candidates (
    task VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL CHECK (length(image_id) = 64),
    keywords VARCHAR[] NOT NULL,
    seen VARCHAR[] NOT NULL,
    PRIMARY KEY (task, image_id),
    CHECK (len(keywords) + len(seen) > 0)
);
INSERT INTO rewrite.new_candidates SELECT task, entry_id, image_id, keywords, [] FROM rewrite.candidates;
DROP TABLE rewrite.candidates;
ALTER TABLE rewrite.new_candidates RENAME TO candidates;

CREATE TABLE rewrite.picture_vectors (
    image_id VARCHAR NOT NULL CHECK (length(image_id) = 64),
    encoder VARCHAR NOT NULL,
    vector FLOAT[] NOT NULL CHECK (len(vector) > 0),
    PRIMARY KEY (image_id, encoder)
);
