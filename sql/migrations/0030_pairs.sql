-- Comparisons of models' answers with their ratings; judges are probed for the place of an answer, too.
CREATE TABLE evaluate.new_probe_judgments (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    probe VARCHAR NOT NULL CHECK (probe IN ('length', 'obedience', 'position')),
    model VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    part VARCHAR NOT NULL,
    score_before DOUBLE NOT NULL,
    score_after DOUBLE,
    reason VARCHAR,
    prompt_version VARCHAR,
    answer_call_key VARCHAR,
    call_key VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, probe, model, item_id, trial, turn, part),
    CHECK ((score_after IS NULL) = (reason IS NOT NULL))
);
INSERT INTO evaluate.new_probe_judgments BY NAME SELECT * FROM evaluate.probe_judgments;
DROP TABLE evaluate.probe_judgments;
ALTER TABLE evaluate.new_probe_judgments RENAME TO probe_judgments;

CREATE TABLE evaluate.new_judge_probes (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    probe VARCHAR NOT NULL CHECK (probe IN ('length', 'obedience', 'position', 'self_preference', 'leniency')),
    n INTEGER NOT NULL CHECK (n >= 0),
    n_lost INTEGER NOT NULL CHECK (n_lost >= 0),
    shift DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, probe),
    CHECK ((shift IS NULL) = (reason IS NOT NULL)),
    CHECK ((n = 0) = (shift IS NULL)),
    CHECK ((ci_low IS NULL) = (ci_high IS NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= shift AND shift <= ci_high))
);
INSERT INTO evaluate.new_judge_probes BY NAME SELECT * FROM evaluate.judge_probes;
DROP TABLE evaluate.judge_probes;
ALTER TABLE evaluate.new_judge_probes RENAME TO judge_probes;

-- Pairwise: which of two models' answers a judge prefers. A row is one order of a comparison, in the form of an
-- arena's battles: the answer of model_a stood first. `style` is the difference of the two answers by feature.
CREATE TABLE evaluate.pairs (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    model_a VARCHAR NOT NULL,
    model_b VARCHAR NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN ('judged', 'not_judged', 'no_answer_a', 'no_answer_b', 'no_answer')),
    winner VARCHAR CHECK (winner IN ('model_a', 'model_b', 'tie')),
    explanation VARCHAR,
    reason VARCHAR,
    style MAP(VARCHAR, DOUBLE),
    prompt_version VARCHAR,
    answer_a_call_key VARCHAR,
    answer_b_call_key VARCHAR,
    call_key VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, item_id, turn, model_a, model_b),
    CHECK (model_a <> model_b),
    CHECK ((status = 'judged') = (winner IS NOT NULL)),
    CHECK ((status = 'not_judged') = (reason IS NOT NULL))
);

-- How the comparisons of a release by a judge were chosen, and how far that went.
CREATE TABLE evaluate.pair_designs (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    opponents VARCHAR NOT NULL,
    adaptive BOOLEAN NOT NULL,
    budget INTEGER CHECK (budget > 0),
    seed INTEGER NOT NULL,
    n_models INTEGER NOT NULL CHECK (n_models > 1),
    n_units INTEGER NOT NULL CHECK (n_units > 0),
    n_rounds INTEGER NOT NULL CHECK (n_rounds >= 0),
    n_calls INTEGER NOT NULL CHECK (n_calls >= 0),
    n_calls_of_all INTEGER NOT NULL CHECK (n_calls_of_all >= n_calls),
    why VARCHAR NOT NULL,
    PRIMARY KEY (release_id, judge, judge_version)
);

-- Bradley-Terry ratings of models from these comparisons: of what was judged, and with no answer as a loss.
CREATE TABLE evaluate.pair_ratings (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    form VARCHAR NOT NULL CHECK (form IN ('judged', 'floor')),
    model VARCHAR NOT NULL,
    rating DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    rank INTEGER CHECK (rank > 0),
    rank_low INTEGER CHECK (rank_low > 0),
    rank_high INTEGER,
    part INTEGER NOT NULL CHECK (part >= 0),
    n INTEGER NOT NULL CHECK (n >= 0),
    n_clusters INTEGER NOT NULL CHECK (n_clusters >= 0),
    win_share DOUBLE CHECK (win_share BETWEEN 0 AND 1),
    tie_share DOUBLE CHECK (tie_share BETWEEN 0 AND 1),
    smoothed BOOLEAN NOT NULL,
    controlled_rating DOUBLE,
    controlled_ci_low DOUBLE,
    controlled_ci_high DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, form, model),
    CHECK ((rating IS NULL) = (reason IS NOT NULL)),
    CHECK ((rating IS NULL) = (rank IS NULL)),
    CHECK (rank IS NULL OR (rank_low <= rank AND rank <= rank_high))
);

-- What a judge was drawn by beside who answered: the place of an answer, its length and its layout.
CREATE TABLE evaluate.pair_biases (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    bias VARCHAR NOT NULL CHECK (bias IN ('first_place', 'words', 'headers', 'lists', 'bold')),
    n INTEGER NOT NULL CHECK (n >= 0),
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, bias),
    CHECK ((value IS NULL) = (reason IS NOT NULL))
);
