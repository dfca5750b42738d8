-- Translations of multiple-choice items, and what two releases in two languages differ in.
CREATE TABLE choice.translations (
    set_id VARCHAR NOT NULL,
    translation_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    language VARCHAR NOT NULL CHECK (length(language) > 0),
    source_hash VARCHAR NOT NULL,
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    hint VARCHAR CHECK (length(hint) > 0),
    choices VARCHAR[] NOT NULL CHECK (len(choices) BETWEEN 2 AND 4),
    names MAP(VARCHAR, VARCHAR) NOT NULL,
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (translation_id),
    UNIQUE (item_id, language)
);

-- A CHECK cannot be altered: the table is made anew.
CREATE TABLE choice.new_failed (
    stage VARCHAR NOT NULL CHECK (stage IN ('items', 'mmiu_items', 'translations')),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
INSERT INTO choice.new_failed SELECT * FROM choice.failed;
DROP TABLE choice.failed;
ALTER TABLE choice.new_failed RENAME TO failed;

CREATE TABLE evaluate.language_gaps (
    benchmark VARCHAR NOT NULL,
    split VARCHAR,
    first_release VARCHAR NOT NULL,
    second_release VARCHAR NOT NULL,
    first_language VARCHAR NOT NULL,
    second_language VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    place INTEGER NOT NULL,
    subset_label VARCHAR NOT NULL,
    subset_value VARCHAR NOT NULL,
    n_pairs INTEGER NOT NULL CHECK (n_pairs > 0),
    n_only_first INTEGER NOT NULL CHECK (n_only_first >= 0),
    n_only_second INTEGER NOT NULL CHECK (n_only_second >= 0),
    n_unlike INTEGER NOT NULL CHECK (n_unlike >= 0),
    n_units INTEGER NOT NULL CHECK (n_units >= 0),
    n_clusters INTEGER NOT NULL,
    first_value DOUBLE,
    second_value DOUBLE,
    difference DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE CHECK (p BETWEEN 0 AND 1),
    p_holm DOUBLE CHECK (p_holm BETWEEN 0 AND 1),
    reason VARCHAR,
    PRIMARY KEY (
        first_release, second_release, judge, judge_version, model, metric, aggregation, subset_label,
        subset_value
    ),
    CHECK (difference IS NOT NULL OR reason IS NOT NULL),
    CHECK (difference IS NULL OR (ci_low <= difference AND difference <= ci_high))
);
