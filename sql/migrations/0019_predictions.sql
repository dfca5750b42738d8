-- Predictions that were made elsewhere, and the files that they are from.
-- Predictions that a model made elsewhere and a person imported: one answer a pass of an item. `prediction` is
-- empty where the file has nothing for a pass that it names.
CREATE TABLE evaluate.predictions (
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL CHECK (starts_with(model, 'file:')),
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    prediction VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, item_id, trial, turn)
);

-- The files that they are from: one a model and release, by the hash of the predictions that it has. `counts`
-- are its records by what became of those that are no prediction of their own.
CREATE TABLE evaluate.prediction_files (
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL CHECK (starts_with(model, 'file:')),
    content_hash VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    n_rows INTEGER NOT NULL CHECK (n_rows > 0),
    n_items INTEGER NOT NULL CHECK (n_items > 0),
    counts MAP(VARCHAR, INTEGER) NOT NULL,
    PRIMARY KEY (release_id, model)
);
