-- Task map from scores: tasks are near each other where the same models do well on both. A task is a value
-- of `label`; `mean_score` is the mean of the models' scores on it, `place` 1 that of the lowest. Tasks
-- without a place on the map have the reason. `linkage` is that of the hierarchical clustering.
CREATE TABLE IF NOT EXISTS evaluate.task_map (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    place INTEGER NOT NULL CHECK (place > 0),
    mean_score DOUBLE NOT NULL,
    n_units INTEGER NOT NULL CHECK (n_units > 0),
    n_models INTEGER NOT NULL CHECK (n_models > 0),
    cluster INTEGER CHECK (cluster > 0),
    x DOUBLE,
    y DOUBLE,
    linkage VARCHAR NOT NULL,
    reason VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, task),
    CHECK ((cluster IS NULL) = (reason IS NOT NULL)),
    CHECK ((x IS NULL) = (cluster IS NULL) AND (y IS NULL) = (cluster IS NULL))
);

-- The distances that a task map is made of: every two tasks on it, `first` before `second` by name.
CREATE TABLE IF NOT EXISTS evaluate.task_distances (
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    first VARCHAR NOT NULL,
    second VARCHAR NOT NULL,
    distance DOUBLE NOT NULL CHECK (distance BETWEEN 0 AND 2),
    PRIMARY KEY (release_id, judge, judge_version, first, second),
    CHECK (first < second)
);
