-- What a person takes off the leaderboards, and a mark beside the rank of a model.
CREATE TABLE evaluate.archive (
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    state VARCHAR NOT NULL CHECK (state IN ('archived', 'left the profile', 'kept')),
    PRIMARY KEY (model, judge, release_id),
    CHECK (model <> '' OR judge <> '')
);
ALTER TABLE evaluate.ranks ADD COLUMN mark VARCHAR;
