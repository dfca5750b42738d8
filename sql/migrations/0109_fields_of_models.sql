-- What models.yaml says of models that have scores.
CREATE TABLE evaluate.models (
    model VARCHAR PRIMARY KEY,
    access VARCHAR CHECK (access IN ('open', 'proprietary')),
    parameters DOUBLE CHECK (parameters > 0),
    backbone VARCHAR,
    main_language VARCHAR,
    trained_on VARCHAR[] NOT NULL,
    reference_rank INTEGER CHECK (reference_rank > 0)
);
