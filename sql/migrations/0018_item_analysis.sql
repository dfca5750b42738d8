-- Item analysis of releases whose observations are right or wrong: filters, statistics, subsets, and the
-- review of what they flag.

-- What a filter found in a release: `why` says why it could flag nothing; items with too few known results
-- are undecided.
CREATE TABLE evaluate.filters (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    filter VARCHAR NOT NULL CHECK (filter IN ('text_only', 'wrong_item')),
    models VARCHAR[] NOT NULL,
    min_models INTEGER NOT NULL CHECK (min_models > 0),
    n_items INTEGER NOT NULL,
    n_flagged INTEGER NOT NULL,
    n_undecided INTEGER NOT NULL,
    why VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, filter),
    CHECK (n_flagged + n_undecided <= n_items),
    CHECK (why IS NULL OR n_flagged = 0)
);

-- An item that a filter flags, with the evidence: the models by outcome, and what each of them answered.
CREATE TABLE evaluate.flagged_items (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    filter VARCHAR NOT NULL CHECK (filter IN ('text_only', 'wrong_item')),
    right_models VARCHAR[] NOT NULL,
    wrong_models VARCHAR[] NOT NULL,
    unknown_models VARCHAR[] NOT NULL,
    answers JSON NOT NULL,
    PRIMARY KEY (release_id, judge, judge_version, item_id, filter)
);

-- How hard an item is and how well it tells models apart: classically, and by the two-parameter logistic
-- model where there are enough models.
CREATE TABLE evaluate.item_statistics (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    n_models INTEGER NOT NULL CHECK (n_models >= 0),
    n_right INTEGER NOT NULL CHECK (n_right BETWEEN 0 AND n_models),
    share_right DOUBLE CHECK (share_right BETWEEN 0 AND 1),
    discrimination DOUBLE CHECK (discrimination BETWEEN -1.000001 AND 1.000001),
    why VARCHAR,
    irt_discrimination DOUBLE,
    irt_difficulty DOUBLE,
    irt_why VARCHAR,
    flags VARCHAR[] NOT NULL,
    PRIMARY KEY (release_id, judge, judge_version, item_id),
    CHECK ((discrimination IS NULL) = (why IS NOT NULL)),
    CHECK ((irt_discrimination IS NULL) = (irt_why IS NOT NULL)),
    CHECK ((irt_discrimination IS NULL) = (irt_difficulty IS NULL))
);

-- Subsets of a release by size, and how far each keeps the ranking of the models (Kendall's tau). Where
-- none could be made there is one row, of the whole release, with the reason.
CREATE TABLE evaluate.smallest_subsets (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    size INTEGER NOT NULL CHECK (size > 0),
    n_items INTEGER NOT NULL CHECK (n_items >= size),
    n_models INTEGER NOT NULL,
    tau DOUBLE,
    held_out DOUBLE,
    held_out_low DOUBLE,
    held_out_high DOUBLE,
    random DOUBLE,
    random_low DOUBLE,
    random_high DOUBLE,
    is_smallest BOOLEAN NOT NULL,
    is_smallest_random BOOLEAN NOT NULL,
    item_ids VARCHAR[] NOT NULL,
    why VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, size),
    CHECK ((tau IS NULL) = (why IS NOT NULL)),
    CHECK ((tau IS NULL) = (held_out IS NULL))
);

-- Flagged items that people decide on: as `review.queue`, once for each item and exact content.
CREATE TABLE evaluate.item_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind = 'flagged_item'),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);

-- What people decided on flagged items, one row for each release that has the item.
CREATE TABLE evaluate.item_decisions (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    review_item_id VARCHAR NOT NULL,
    flags VARCHAR[] NOT NULL,
    decision VARCHAR NOT NULL CHECK (decision IN ('pending', 'keep', 'edit', 'reject')),
    reason VARCHAR,
    reviewers VARCHAR[] NOT NULL,
    content JSON NOT NULL,
    PRIMARY KEY (release_id, item_id)
);
