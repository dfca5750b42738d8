-- A step of evaluation that fails does not stop what follows: what it did not make, and why.
CREATE TABLE evaluate.not_made (
    step VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    PRIMARY KEY (step, release_id)
);
