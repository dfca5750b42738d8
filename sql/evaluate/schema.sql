-- Evaluation: what each model answered, what the judge said of it, and the scores they come to.
CREATE SCHEMA IF NOT EXISTS evaluate;

-- status 'refused': the model declined, in its own words (answer) or by a filter (answer NULL).
-- 'truncated', 'reasoning_only', 'empty': it replied, and not with an answer; the call has what it said.
-- 'given': the benchmark set the text, no model was asked. 'not_asked': an earlier turn has no answer,
-- or the release lacks a reference that would be given.
-- `trial` tells askings of one item apart.
CREATE TABLE IF NOT EXISTS evaluate.answers (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN (
        'answered', 'given', 'refused', 'truncated', 'reasoning_only', 'empty', 'failed', 'not_asked'
    )),
    answer VARCHAR,
    finish_reason VARCHAR,
    reasoning VARCHAR,
    call_key VARCHAR,
    prompt_version VARCHAR NOT NULL,
    turns_left_out INTEGER CHECK (turns_left_out > 0),
    images_left_out INTEGER,
    settings MAP(VARCHAR, VARCHAR),
    PRIMARY KEY (release_id, model, item_id, trial, turn),
    CHECK (status NOT IN ('answered', 'given') OR answer IS NOT NULL),
    CHECK (status IN ('answered', 'given', 'refused') OR answer IS NULL)
);

-- What was read from an answer, such as the letter of a choice: by rule, or by a model.
CREATE TABLE IF NOT EXISTS evaluate.extractions (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    extractor VARCHAR NOT NULL,
    value VARCHAR,
    answer_call_key VARCHAR,
    call_key VARCHAR,
    prompt_version VARCHAR,
    PRIMARY KEY (release_id, model, item_id, trial, turn),
    CHECK ((extractor = 'rule') = (call_key IS NULL))
);

-- A judgment is of one answer, named by the call that gave it. When a model has answered again, the
-- judgment of its earlier answer does not count. `part` tells several judgments of one turn apart,
-- `replicate` repetitions of the same request. `judge_version` is the version of the whole judging: of all
-- prompts of the benchmark's judge, of how it judges, and of the images that it is sent.
CREATE TABLE IF NOT EXISTS evaluate.judgments (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    replicate INTEGER NOT NULL CHECK (replicate >= 0),
    provider VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    part VARCHAR NOT NULL,
    scores MAP(VARCHAR, DOUBLE) NOT NULL,
    score DOUBLE NOT NULL,
    explanation VARCHAR NOT NULL,
    answer_call_key VARCHAR,
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, judge, replicate, item_id, trial, turn, part)
);

-- Turns without an answer or without a judgment, and why; never mixed with results. `asked` is the model
-- that was asked: the one that is evaluated, an extractor or a judge.
CREATE TABLE IF NOT EXISTS evaluate.failed (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    stage VARCHAR NOT NULL CHECK (stage IN ('answers', 'judgments')),
    asked VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);

-- Models that lost so many turns in the last run of a stage that its rows of them were not taken.
CREATE TABLE IF NOT EXISTS evaluate.missing (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    stage VARCHAR NOT NULL CHECK (stage IN ('answers', 'judgments')),
    asked VARCHAR NOT NULL,
    n_lost INTEGER NOT NULL CHECK (n_lost > 0),
    n_turns INTEGER NOT NULL CHECK (n_turns >= n_lost),
    why VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, stage, asked)
);

-- Models and judges that leaderboards, reports and exports do not show: archived by a person, or not named by the
-- profile any more, unless a person keeps them. Empty means any model, any judge or any release.
CREATE TABLE IF NOT EXISTS evaluate.archive (
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    state VARCHAR NOT NULL CHECK (state IN ('archived', 'left the profile', 'kept')),
    PRIMARY KEY (model, judge, release_id),
    CHECK (model <> '' OR judge <> '')
);

-- What a step of evaluation did not make in its last run, and why. `release_id` is empty where the step made
-- nothing: its table has the rows of an earlier run.
CREATE TABLE IF NOT EXISTS evaluate.not_made (
    step VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    PRIMARY KEY (step, release_id)
);

-- One scored fact a row. Before it everything is the benchmark's, after it everything is shared. `judge`
-- is a model or 'rule'; `judge_version` the version of the judging or of the rule, and how the answers were
-- asked where dialogues that are too long were shortened (`context=truncate`).
CREATE TABLE IF NOT EXISTS evaluate.observations (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    replicate INTEGER NOT NULL CHECK (replicate >= 0),
    metric VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    part VARCHAR NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN (
        'judged', 'refused', 'truncated', 'reasoning_only', 'empty', 'failed', 'not_asked', 'not_judged',
        'no_reference', 'no_picture'
    )),
    value DOUBLE,
    call_key VARCHAR,
    answer_call_key VARCHAR,
    PRIMARY KEY (
        release_id, model, judge, judge_version, replicate, metric, item_id, trial, turn, part
    ),
    CHECK ((status = 'judged') = (value IS NOT NULL))
);

-- Observations under different versions of the judging are different scores. `form` says what became of
-- what the model failed: 'floor' counts it as the lowest value, 'judged' leaves it out, 'common' has only
-- what every model of the release was judged on, 'all_items' is 'floor' with what was not asked for want of
-- a picture as lost. A score is of all, or of the items or turns with one
-- value of a label (`subset_label`, `subset_value`; both empty for all). `place` is that of the metric in its
-- benchmark's list: the one with place 0 ranks.
CREATE TABLE IF NOT EXISTS evaluate.scores (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    place INTEGER NOT NULL,
    form VARCHAR NOT NULL CHECK (form IN ('floor', 'judged', 'common', 'all_items')),
    subset_label VARCHAR NOT NULL,
    subset_value VARCHAR NOT NULL,
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    n_units INTEGER NOT NULL,
    n_items INTEGER NOT NULL,
    n_turns INTEGER NOT NULL,
    n_judged INTEGER NOT NULL,
    n_failed INTEGER NOT NULL,
    n_refused INTEGER NOT NULL,
    n_truncated INTEGER NOT NULL,
    n_reasoning_only INTEGER NOT NULL,
    n_empty INTEGER NOT NULL,
    n_clusters INTEGER,
    method VARCHAR,
    seed BIGINT,
    PRIMARY KEY (
        release_id, model, judge, judge_version, metric, aggregation, form, subset_label, subset_value
    ),
    CHECK (n_judged + n_failed + n_truncated + n_reasoning_only + n_empty <= n_turns),
    CHECK (value IS NULL OR (ci_low <= value AND value <= ci_high))
);

-- Two models on the units that both have: the difference of the first and the second, its interval by
-- over clusters, p of the same test, and p after Holm over all pairs.
-- `detectable` is the smallest true difference that would be found four times of five.
CREATE TABLE IF NOT EXISTS evaluate.comparisons (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    form VARCHAR NOT NULL CHECK (form IN ('floor', 'common')),
    first VARCHAR NOT NULL,
    second VARCHAR NOT NULL,
    difference DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE CHECK (p BETWEEN 0 AND 1),
    p_holm DOUBLE CHECK (p_holm BETWEEN 0 AND 1),
    detectable DOUBLE,
    n_units INTEGER NOT NULL,
    n_clusters INTEGER NOT NULL,
    method VARCHAR,
    seed BIGINT,
    PRIMARY KEY (release_id, judge, judge_version, metric, aggregation, form, first, second),
    CHECK (difference IS NULL OR (ci_low <= difference AND difference <= ci_high))
);

-- The rank of each model by its 'floor' scores; NULL, with the reason, where it has none. `related` says where the
-- model, or one of its family, judged or wrote the release, `mark` where the score is of a part only.
CREATE TABLE IF NOT EXISTS evaluate.ranks (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    rank INTEGER CHECK (rank > 0),
    rank_low INTEGER,
    rank_high INTEGER,
    coverage DOUBLE NOT NULL CHECK (coverage BETWEEN 0 AND 1),
    why VARCHAR,
    related VARCHAR,
    mark VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, metric, aggregation, model),
    CHECK ((rank IS NULL) = (why IS NOT NULL)),
    CHECK (rank IS NULL OR (rank_low <= rank AND rank <= rank_high))
);

-- What analyses measure of scores, one figure a row; each analysis is a view of its own rows (views.sql). `subject`
-- is what a figure is of, `other` what that is compared with; what there is nothing to name for is empty. Without a
-- value there is the reason why; with one it is the reason why there is no interval.
CREATE TABLE IF NOT EXISTS evaluate.findings (
    analysis VARCHAR NOT NULL,
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    other VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    measure VARCHAR NOT NULL,
    subset_label VARCHAR NOT NULL,
    subset_value VARCHAR NOT NULL,
    unit VARCHAR NOT NULL,
    n INTEGER NOT NULL CHECK (n >= 0),
    n_clusters INTEGER,
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE CHECK (p BETWEEN 0 AND 1),
    p_holm DOUBLE CHECK (p_holm BETWEEN 0 AND 1),
    reason VARCHAR,
    place INTEGER NOT NULL,
    method VARCHAR,
    seed BIGINT,
    PRIMARY KEY (
        analysis, release_id, judge, judge_version, subject, other, metric, aggregation, measure, subset_label,
        subset_value, unit
    ),
    CHECK (value IS NOT NULL OR reason IS NOT NULL),
    CHECK ((subset_label = '') = (subset_value = '')),
    CHECK ((ci_low IS NULL) = (ci_high IS NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= value AND value <= ci_high))
);

-- What `models.yaml` says of the models that have scores; predictions from a file have the fields of the entry that
-- they are named after.
CREATE TABLE IF NOT EXISTS evaluate.models (
    model VARCHAR PRIMARY KEY,
    access VARCHAR CHECK (access IN ('open', 'proprietary')),
    parameters DOUBLE CHECK (parameters > 0),
    backbone VARCHAR,
    main_language VARCHAR,
    trained_on VARCHAR[] NOT NULL,
    reference_rank INTEGER CHECK (reference_rank > 0)
);

CREATE TABLE IF NOT EXISTS evaluate.reports (
    release_id VARCHAR PRIMARY KEY,
    path VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    n_models INTEGER NOT NULL
);

-- Pages with every item of a release: `reports/items/<release_id>.html`.
CREATE TABLE IF NOT EXISTS evaluate.site (
    release_id VARCHAR PRIMARY KEY,
    path VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    n_items INTEGER NOT NULL,
    n_pictures INTEGER NOT NULL,
    n_missing INTEGER NOT NULL
);

-- Judged answers for people: scores on the judge's scale, or the better one of an answer and its reference.
-- As `review.queue`, without the model and what the judge gave.
CREATE TABLE IF NOT EXISTS evaluate.score_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN ('score', 'pair')),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);

-- How far people's mean score and a judge agree (raters 'people|judge:name'): as `review.agreement`.
CREATE TABLE IF NOT EXISTS evaluate.judge_agreement (
    kind VARCHAR NOT NULL,
    dimension VARCHAR NOT NULL,
    raters VARCHAR NOT NULL,
    measure VARCHAR NOT NULL CHECK (measure IN (
        'raw', 'cohen_kappa', 'fleiss_kappa', 'krippendorff_nominal', 'krippendorff_ordinal',
        'pearson', 'spearman', 'kendall', 'mae'
    )),
    n_items INTEGER NOT NULL CHECK (n_items >= 0),
    value DOUBLE,
    low DOUBLE,
    high DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (kind, dimension, raters, measure),
    CHECK ((value IS NULL) = (reason IS NOT NULL)),
    CHECK (value IS NULL OR (low <= value AND value <= high))
);

-- Item analysis of releases whose observations are right or wrong: filters, statistics, subsets, and the
-- review of what they flag.

-- What a filter found in a release: `why` says why it could flag nothing; items with too few known results
-- are undecided.
CREATE TABLE IF NOT EXISTS evaluate.filters (
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
CREATE TABLE IF NOT EXISTS evaluate.flagged_items (
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

-- How hard an item is and how well it tells models apart.
CREATE TABLE IF NOT EXISTS evaluate.item_statistics (
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
    flags VARCHAR[] NOT NULL,
    PRIMARY KEY (release_id, judge, judge_version, item_id),
    CHECK ((discrimination IS NULL) = (why IS NOT NULL))
);

-- Subsets of a release by size, and how far each keeps the ranking of the models (Kendall's tau). Where
-- none could be made there is one row, of the whole release, with the reason.
CREATE TABLE IF NOT EXISTS evaluate.smallest_subsets (
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
CREATE TABLE IF NOT EXISTS evaluate.item_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind = 'flagged_item'),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);

-- What people decided on flagged items, one row for each release that has the item.
CREATE TABLE IF NOT EXISTS evaluate.item_decisions (
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

-- Predictions that a model made elsewhere and a person imported: one answer a pass of an item. `prediction` is
-- empty where the file has nothing for a pass that it names.
CREATE TABLE IF NOT EXISTS evaluate.predictions (
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
CREATE TABLE IF NOT EXISTS evaluate.prediction_files (
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

-- What the extractor reads in answers that a rule has read: a sample, by which the two are compared. What other
-- extractors read in these, and in all answers that no rule has read. It counts in no score. Without a value there is the reason why.
CREATE TABLE IF NOT EXISTS evaluate.second_readings (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    extractor VARCHAR NOT NULL,
    value VARCHAR,
    reason VARCHAR,
    answer_call_key VARCHAR,
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, item_id, trial, turn, extractor),
    CHECK ((value IS NULL) = (reason IS NOT NULL))
);

-- Answers whose letter people read: as `review.queue`, without the model and without anybody's reading.
CREATE TABLE IF NOT EXISTS evaluate.extraction_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind = 'extraction'),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);

-- Two models on the items of one ability, by the first metric that is split, failures at the floor: as
-- evaluate.comparisons. p after Holm is over all pairs and all values of the label.
CREATE TABLE IF NOT EXISTS evaluate.ability_comparisons (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    subset_label VARCHAR NOT NULL,
    subset_value VARCHAR NOT NULL,
    first VARCHAR NOT NULL,
    second VARCHAR NOT NULL,
    difference DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE CHECK (p BETWEEN 0 AND 1),
    p_holm DOUBLE CHECK (p_holm BETWEEN 0 AND 1),
    n_units INTEGER NOT NULL,
    n_clusters INTEGER NOT NULL,
    method VARCHAR,
    seed BIGINT,
    PRIMARY KEY (release_id, judge, judge_version, subset_label, subset_value, first, second),
    CHECK (difference IS NULL OR (ci_low <= difference AND difference <= ci_high))
);

-- Scores of answers that people gave elsewhere and a person imported: one of each rater and dimension. `rater` is
-- empty where the file names nobody; `content_hash` names the file that the score is from.
CREATE TABLE IF NOT EXISTS evaluate.human_scores (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    dimension VARCHAR NOT NULL,
    rater VARCHAR NOT NULL,
    score DOUBLE NOT NULL,
    content_hash VARCHAR NOT NULL,
    reason VARCHAR,
    PRIMARY KEY (release_id, item_id, model, turn, dimension, rater)
);

-- The files that they are from, by the hash of the scores that each has. `counts` are its records by why they are
-- no score.
CREATE TABLE IF NOT EXISTS evaluate.human_score_files (
    release_id VARCHAR NOT NULL,
    content_hash VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    n_rows INTEGER NOT NULL CHECK (n_rows > 0),
    n_scores INTEGER NOT NULL CHECK (n_scores > 0),
    counts MAP(VARCHAR, INTEGER) NOT NULL,
    PRIMARY KEY (release_id, content_hash)
);

-- An answer that a judge judged again with something planted in it: `score_before` is that of the answer as it
-- is, the mean of the judge's replicates. Without a score after it there is the reason.
CREATE TABLE IF NOT EXISTS evaluate.bias_test_judgments (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    bias_test VARCHAR NOT NULL CHECK (bias_test IN ('length', 'obedience', 'position')),
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
    PRIMARY KEY (release_id, judge, judge_version, bias_test, model, item_id, trial, turn, part),
    CHECK ((score_after IS NULL) = (reason IS NOT NULL))
);

-- How far a judge's scores shift, in points, under what should not shift them, and what that shows.
CREATE TABLE IF NOT EXISTS evaluate.judge_bias_tests (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    bias_test VARCHAR NOT NULL CHECK (
        bias_test IN ('length', 'obedience', 'position', 'verdicts', 'self_preference', 'leniency')
    ),
    n INTEGER NOT NULL CHECK (n >= 0),
    n_clusters INTEGER CHECK (n_clusters <= n),
    n_lost INTEGER NOT NULL CHECK (n_lost >= 0),
    shift DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE,
    p_holm DOUBLE CHECK (p_holm >= p),
    least DOUBLE CHECK (least > 0),
    power DOUBLE,
    detectable DOUBLE,
    verdict VARCHAR NOT NULL CHECK (verdict IN ('found', 'none', 'open')),
    reason VARCHAR,
    PRIMARY KEY (release_id, judge, judge_version, bias_test),
    CHECK ((shift IS NULL) = (reason IS NOT NULL)),
    CHECK ((n = 0) = (shift IS NULL)),
    CHECK ((ci_low IS NULL) = (ci_high IS NULL)),
    CHECK ((p IS NULL) = (p_holm IS NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= shift AND shift <= ci_high))
);

-- Training pairs of a critic: what the judge is sent about an answer, without images, and the reply that a
-- person's score and reason make. `raters` scored the answer, `chosen` gave the middle score. What hangs together
-- (group, image, question) is a block, and in one split. The extra `critic` fills it; it stands here because
-- `evaluate.judge_quality` reads the splits, none without the extra.
CREATE TABLE IF NOT EXISTS evaluate.critic_pairs (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    pair_id VARCHAR NOT NULL,
    split VARCHAR NOT NULL CHECK (split IN ('train', 'test', 'external')),
    ordinal INTEGER NOT NULL CHECK (ordinal > 0),
    category VARCHAR NOT NULL,
    block VARCHAR NOT NULL,
    seed BIGINT NOT NULL,
    model VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    part VARCHAR NOT NULL,
    group_id VARCHAR NOT NULL,
    images VARCHAR[] NOT NULL,
    question VARCHAR NOT NULL,
    score INTEGER NOT NULL,
    chosen VARCHAR NOT NULL,
    raters VARCHAR[] NOT NULL CHECK (len(raters) > 0),
    origin VARCHAR NOT NULL CHECK (origin IN ('internal', 'external')),
    source VARCHAR NOT NULL,
    system VARCHAR NOT NULL,
    prompt VARCHAR NOT NULL CHECK (length(prompt) > 0),
    reply VARCHAR NOT NULL CHECK (length(reply) > 0),
    prompt_version VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, pair_id),
    UNIQUE (release_id, split, ordinal)
);

-- ConvBench: of the errors of a turn, how many go when earlier turns are given, and how many right answers are
-- lost; the net in points of the win rate, with its test. `later turn` has two turns of one history in place of
-- two settings. An error is a value below 0.5 over both orders of the pair.
CREATE TABLE IF NOT EXISTS evaluate.error_attribution (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    judge_version VARCHAR NOT NULL,
    change VARCHAR NOT NULL CHECK (change IN (
        'perception given', 'reasoning given as well', 'both given', 'later turn'
    )),
    before_dimension VARCHAR NOT NULL,
    before_trial VARCHAR NOT NULL,
    dimension VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    subset_label VARCHAR NOT NULL,
    subset_value VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    n_items INTEGER NOT NULL CHECK (n_items >= 0),
    n_left_out INTEGER NOT NULL CHECK (n_left_out >= 0),
    left_out MAP(VARCHAR, INTEGER) NOT NULL,
    n_errors INTEGER NOT NULL CHECK (n_errors >= 0),
    n_gone INTEGER NOT NULL CHECK (n_gone BETWEEN 0 AND n_errors),
    gone_share DOUBLE,
    gone_low DOUBLE,
    gone_high DOUBLE,
    n_right INTEGER NOT NULL CHECK (n_right >= 0),
    n_lost INTEGER NOT NULL CHECK (n_lost BETWEEN 0 AND n_right),
    lost_share DOUBLE,
    lost_low DOUBLE,
    lost_high DOUBLE,
    before_value DOUBLE,
    after_value DOUBLE,
    difference DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    p DOUBLE CHECK (p BETWEEN 0 AND 1),
    p_holm DOUBLE CHECK (p_holm BETWEEN 0 AND 1),
    verdict VARCHAR CHECK (verdict IN ('gain', 'loss')),
    reason VARCHAR,
    PRIMARY KEY (
        release_id, judge, judge_version, change, before_dimension, dimension, subset_label, subset_value,
        model
    ),
    CHECK (n_errors + n_right = n_items),
    CHECK ((n_errors = 0) = (gone_share IS NULL)),
    CHECK (gone_share IS NULL OR (gone_low <= gone_share AND gone_share <= gone_high)),
    CHECK ((n_right = 0) = (lost_share IS NULL)),
    CHECK (lost_share IS NULL OR (lost_low <= lost_share AND lost_share <= lost_high)),
    CHECK ((n_items = 0) = (difference IS NULL)),
    CHECK ((p IS NULL) = (reason IS NOT NULL)),
    CHECK (ci_low IS NULL OR (ci_low <= difference AND difference <= ci_high)),
    CHECK (verdict IS NULL OR p_holm < 0.05)
);

-- Pairwise: which of two models' answers a judge prefers. A row is one order of a comparison, in the form of an
-- arena's battles: the answer of model_a stood first. `style` is the difference of the two answers by feature.
CREATE TABLE IF NOT EXISTS evaluate.pairs (
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
CREATE TABLE IF NOT EXISTS evaluate.pair_designs (
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
CREATE TABLE IF NOT EXISTS evaluate.pair_ratings (
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
CREATE TABLE IF NOT EXISTS evaluate.pair_biases (
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
