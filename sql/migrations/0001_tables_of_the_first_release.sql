-- The tables of the first release. It gave a file those that it lacked whenever it opened it, so a file
-- that an earlier state of sql/ made may still lack some. What each is for, says the schema of its stage.

CREATE SCHEMA IF NOT EXISTS ingest;

CREATE TABLE IF NOT EXISTS ingest.shards (
    wit_shard VARCHAR PRIMARY KEY,
    address VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    n_rows BIGINT NOT NULL,
    reasons MAP(VARCHAR, BIGINT) NOT NULL
);

CREATE TABLE IF NOT EXISTS ingest.wit_rows (
    wit_shard VARCHAR NOT NULL,
    line_number BIGINT NOT NULL CHECK (line_number > 0),
    language VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    image_url VARCHAR NOT NULL,
    page_title VARCHAR NOT NULL,
    section_title VARCHAR,
    hierarchical_section_title VARCHAR,
    caption_reference_description VARCHAR,
    caption_attribution_description VARCHAR,
    caption_alt_text_description VARCHAR,
    mime_type VARCHAR,
    original_height BIGINT,
    original_width BIGINT,
    is_main_image BOOLEAN,
    attribution_passes_lang_id BOOLEAN,
    page_changed_recently BOOLEAN,
    context_page_description VARCHAR,
    context_section_description VARCHAR
);

CREATE TABLE IF NOT EXISTS ingest.rejected (
    wit_shard VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('row', 'image')),
    reference VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    excerpt VARCHAR,
    PRIMARY KEY (wit_shard, kind, reference)
);

CREATE TABLE IF NOT EXISTS ingest.pages (
    wit_shard VARCHAR NOT NULL,
    page_id VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    page_text VARCHAR NOT NULL,
    categories VARCHAR[] NOT NULL,
    topics VARCHAR[] NOT NULL,
    PRIMARY KEY (wit_shard, page_id)
);

CREATE TABLE IF NOT EXISTS ingest.changes (
    run_id VARCHAR NOT NULL,
    wit_shard VARCHAR NOT NULL,
    page_id VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    changed_at TIMESTAMP NOT NULL,
    text_before VARCHAR NOT NULL,
    text_after VARCHAR NOT NULL CHECK (text_after <> text_before),
    PRIMARY KEY (run_id, wit_shard, page_id)
);

CREATE TABLE IF NOT EXISTS ingest.images (
    wit_shard VARCHAR NOT NULL,
    image_url VARCHAR NOT NULL,
    fetched_from VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL CHECK (length(image_id) = 64),
    md5 VARCHAR NOT NULL CHECK (length(md5) = 32),
    path VARCHAR NOT NULL,
    mime_type VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    animated BOOLEAN NOT NULL,
    rotated BOOLEAN NOT NULL,
    width INTEGER NOT NULL CHECK (width > 0),
    height INTEGER NOT NULL CHECK (height > 0),
    n_bytes BIGINT NOT NULL CHECK (n_bytes > 0),
    aspect DOUBLE NOT NULL,
    blur DOUBLE NOT NULL,
    entropy DOUBLE NOT NULL CHECK (entropy BETWEEN 0 AND 8.001),
    brightness DOUBLE NOT NULL CHECK (brightness BETWEEN 0 AND 255),
    phash VARCHAR NOT NULL CHECK (length(phash) = 16),
    attribution VARCHAR,
    licence VARCHAR,
    licence_url VARCHAR,
    artist VARCHAR,
    PRIMARY KEY (wit_shard, image_url)
);

CREATE TABLE IF NOT EXISTS ingest.duplicates (
    image_id VARCHAR PRIMARY KEY,
    group_id VARCHAR NOT NULL,
    n_urls INTEGER NOT NULL CHECK (n_urls > 0),
    distance INTEGER CHECK (distance BETWEEN 0 AND 64)
);

CREATE TABLE IF NOT EXISTS ingest.entries (
    wit_shard VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    page_id VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    categories VARCHAR[] NOT NULL,
    caption VARCHAR NOT NULL,
    page_text VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    topics VARCHAR[] NOT NULL,
    attribution VARCHAR,
    licence VARCHAR,
    licence_url VARCHAR,
    artist VARCHAR,
    PRIMARY KEY (wit_shard, entry_id)
);

CREATE SCHEMA IF NOT EXISTS cluster;

CREATE TABLE IF NOT EXISTS cluster.embeddings (
    text_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    vector FLOAT[] NOT NULL CHECK (len(vector) > 0),
    PRIMARY KEY (text_id, model),
    CHECK (text_id = sha256(text))
);

CREATE TABLE IF NOT EXISTS cluster.clusters (
    entry_id VARCHAR PRIMARY KEY,
    category_text_id VARCHAR NOT NULL,
    caption_text_id VARCHAR NOT NULL,
    group_id VARCHAR,
    group_how VARCHAR NOT NULL,
    group_centre VARCHAR,
    group_similarity DOUBLE CHECK (group_similarity BETWEEN -1.001 AND 1.001),
    group_caption_similarity DOUBLE CHECK (group_caption_similarity BETWEEN -1.001 AND 1.001),
    nearest_group_id VARCHAR,
    nearest_group_similarity DOUBLE CHECK (nearest_group_similarity BETWEEN -1.001 AND 1.001),
    cluster_id VARCHAR,
    cluster_how VARCHAR,
    cluster_centre VARCHAR,
    cluster_similarity DOUBLE CHECK (cluster_similarity BETWEEN -1.001 AND 1.001),
    cluster_category_similarity DOUBLE CHECK (cluster_category_similarity BETWEEN -1.001 AND 1.001),
    nearest_cluster_id VARCHAR,
    nearest_cluster_similarity DOUBLE CHECK (nearest_cluster_similarity BETWEEN -1.001 AND 1.001),
    CHECK (cluster_id IS NULL OR group_id IS NOT NULL),
    CHECK (group_how IN ('founded', 'assigned', 'no neighbour', 'overtaken', 'sparse')),
    CHECK (cluster_how IN ('founded', 'assigned', 'no neighbour', 'overtaken', 'sparse')),
    CHECK ((group_id IS NOT NULL) = (group_how IN ('founded', 'assigned'))),
    CHECK ((cluster_id IS NOT NULL) = coalesce(cluster_how IN ('founded', 'assigned'), false)),
    CHECK ((cluster_how IS NULL) = (group_id IS NULL)),
    CHECK (group_id IS NULL OR nearest_group_id IS NULL),
    CHECK (cluster_id IS NULL OR nearest_cluster_id IS NULL)
);

CREATE TABLE IF NOT EXISTS cluster.communities (
    community_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN ('group', 'cluster')),
    group_id VARCHAR,
    centre_entry_id VARCHAR NOT NULL,
    category_text_id VARCHAR NOT NULL,
    caption_text_id VARCHAR NOT NULL,
    n_members BIGINT NOT NULL CHECK (n_members > 0),
    founded_in VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    tau DOUBLE NOT NULL CHECK (tau BETWEEN -1 AND 1),
    min_size INTEGER NOT NULL CHECK (min_size >= 2),
    group_method VARCHAR NOT NULL,
    cluster_method VARCHAR NOT NULL,
    CHECK ((kind = 'group') = (group_id IS NULL))
);

CREATE TABLE IF NOT EXISTS cluster.changes (
    run_id VARCHAR NOT NULL,
    changed_at TIMESTAMP NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('group', 'cluster')),
    change VARCHAR NOT NULL CHECK (change IN ('kept', 'split', 'merged', 'new', 'gone')),
    old_id VARCHAR,
    new_id VARCHAR,
    n_old BIGINT NOT NULL CHECK (n_old >= 0),
    n_new BIGINT NOT NULL CHECK (n_new >= 0),
    n_common BIGINT NOT NULL CHECK (n_common >= 0),
    UNIQUE (run_id, old_id, new_id),
    CHECK ((change = 'new') = (old_id IS NULL)),
    CHECK ((change = 'gone') = (new_id IS NULL)),
    CHECK ((change = 'kept') = coalesce(old_id = new_id, false))
);

CREATE TABLE IF NOT EXISTS cluster.image_sets (
    set_id VARCHAR NOT NULL,
    bucket VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    cluster_id VARCHAR NOT NULL,
    position INTEGER NOT NULL CHECK (position BETWEEN 1 AND 20),
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    PRIMARY KEY (set_id, position)
);

CREATE TABLE IF NOT EXISTS cluster.set_counts (
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    n_images INTEGER NOT NULL CHECK (n_images BETWEEN 2 AND 20),
    wanted BIGINT NOT NULL CHECK (wanted >= 0),
    made BIGINT NOT NULL CHECK (made >= 0),
    reasons MAP(VARCHAR, BIGINT) NOT NULL,
    PRIMARY KEY (kind, n_images),
    CHECK (coalesce(list_sum(map_values(reasons)), 0) = wanted - made)
);

CREATE TABLE IF NOT EXISTS cluster.cohesion (
    cluster_id VARCHAR PRIMARY KEY,
    group_id VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    size INTEGER NOT NULL CHECK (size > 0),
    mean_similarity DOUBLE NOT NULL CHECK (mean_similarity BETWEEN -1.001 AND 1.001),
    min_similarity DOUBLE NOT NULL CHECK (min_similarity BETWEEN -1.001 AND 1.001),
    nearest_cluster VARCHAR,
    nearest_similarity DOUBLE CHECK (nearest_similarity BETWEEN -1.001 AND 1.001),
    CHECK (mean_similarity >= min_similarity - 0.001),
    CHECK (nearest_cluster <> cluster_id)
);

CREATE TABLE IF NOT EXISTS cluster.near_pairs (
    cluster_a VARCHAR NOT NULL,
    cluster_b VARCHAR NOT NULL,
    title_a VARCHAR NOT NULL,
    title_b VARCHAR NOT NULL,
    size_a INTEGER NOT NULL,
    size_b INTEGER NOT NULL,
    same_group BOOLEAN NOT NULL,
    similarity DOUBLE NOT NULL CHECK (similarity BETWEEN -1.001 AND 1.001),
    union_similarity DOUBLE NOT NULL CHECK (union_similarity <= similarity + 0.001),
    mergeable BOOLEAN NOT NULL,
    PRIMARY KEY (cluster_a, cluster_b),
    CHECK (cluster_a < cluster_b)
);

CREATE TABLE IF NOT EXISTS cluster.map (
    entry_id VARCHAR PRIMARY KEY,
    place INTEGER NOT NULL UNIQUE CHECK (place > 0),
    x FLOAT NOT NULL,
    y FLOAT NOT NULL
);

CREATE TABLE IF NOT EXISTS cluster.pictures (
    path VARCHAR PRIMARY KEY,
    sha256 VARCHAR NOT NULL,
    n_points INTEGER NOT NULL,
    n_thumbnails INTEGER NOT NULL
);

CREATE SCHEMA IF NOT EXISTS dialogue;

CREATE TABLE IF NOT EXISTS dialogue.summaries (
    bucket VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    summary VARCHAR NOT NULL CHECK (length(summary) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (set_id, entry_id)
);

CREATE TABLE IF NOT EXISTS dialogue.questions (
    bucket VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    scope VARCHAR NOT NULL CHECK (scope IN ('single', 'multi')),
    position INTEGER,
    ordinal INTEGER NOT NULL CHECK (ordinal > 0),
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (question_id),
    CHECK ((scope = 'single') = (position IS NOT NULL))
);

CREATE TABLE IF NOT EXISTS dialogue.answers (
    bucket VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    answer VARCHAR NOT NULL CHECK (length(answer) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (question_id)
);

CREATE TABLE IF NOT EXISTS dialogue.dialogues (
    bucket VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    dialogue_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    image_ids VARCHAR[] NOT NULL,
    n_images INTEGER NOT NULL CHECK (n_images >= 2),
    n_turns INTEGER NOT NULL CHECK (n_turns >= 1),
    turns STRUCT(question_id VARCHAR, question VARCHAR, answer VARCHAR)[] NOT NULL,
    PRIMARY KEY (dialogue_id)
);

CREATE TABLE IF NOT EXISTS dialogue.failed (
    bucket VARCHAR NOT NULL,
    stage VARCHAR NOT NULL CHECK (stage IN ('summaries', 'questions', 'answers', 'dialogues', 'prompts')),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);

CREATE SCHEMA IF NOT EXISTS rewrite;

CREATE TABLE IF NOT EXISTS rewrite.prompts (
    bucket VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    rewrite_id VARCHAR NOT NULL,
    dialogue_id VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL CHECK (ordinal > 0),
    original VARCHAR NOT NULL,
    rewrite VARCHAR NOT NULL CHECK (length(rewrite) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (dialogue_id, ordinal)
);

CREATE SCHEMA IF NOT EXISTS review;

CREATE TABLE IF NOT EXISTS review.queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN (
        'dialogue', 'multiple_choice', 'rewrite', 'reference', 'translation', 'category',
        'extraction', 'score'
    )),
    set_id VARCHAR NOT NULL,
    bucket VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);

CREATE TABLE IF NOT EXISTS review.decisions (
    event_id BIGINT PRIMARY KEY,
    item_id VARCHAR NOT NULL,
    content_hash VARCHAR NOT NULL,
    round INTEGER NOT NULL CHECK (round IN (1, 2)),
    reviewer VARCHAR NOT NULL CHECK (reviewer NOT LIKE 'policy:%'),
    verdict VARCHAR NOT NULL CHECK (verdict IN ('accept', 'edit', 'reject', 'skip')),
    edits_hash VARCHAR,
    reason VARCHAR,
    note VARCHAR,
    decided_at VARCHAR NOT NULL,
    CHECK ((edits_hash IS NOT NULL) = (verdict = 'edit'))
);

CREATE TABLE IF NOT EXISTS review.approved (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN ('approved', 'rejected', 'pending')),
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    reviewers VARCHAR[] NOT NULL,
    policy VARCHAR NOT NULL CHECK (policy IN ('none', 'sample', 'all')),
    policy_share DOUBLE NOT NULL CHECK (policy_share BETWEEN 0 AND 1),
    demanded BOOLEAN NOT NULL,
    reason VARCHAR
);

CREATE TABLE IF NOT EXISTS review.agreement (
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

CREATE TABLE IF NOT EXISTS review.effort (
    kind VARCHAR NOT NULL,
    round INTEGER NOT NULL CHECK (round IN (1, 2)),
    reviewer VARCHAR NOT NULL,
    n_decisions INTEGER NOT NULL CHECK (n_decisions >= 0),
    n_skipped INTEGER NOT NULL CHECK (n_skipped >= 0),
    median_seconds DOUBLE CHECK (median_seconds >= 0),
    reasons MAP(VARCHAR, INTEGER) NOT NULL,
    PRIMARY KEY (kind, round, reviewer)
);

CREATE SCHEMA IF NOT EXISTS release;

CREATE TABLE IF NOT EXISTS release.releases (
    release_id VARCHAR PRIMARY KEY,
    name VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    n_items INTEGER NOT NULL,
    n_turns INTEGER NOT NULL,
    n_images INTEGER NOT NULL,
    review_policy VARCHAR NOT NULL CHECK (review_policy IN ('none', 'sample', 'all')),
    review_share DOUBLE NOT NULL CHECK (review_share BETWEEN 0 AND 1),
    provider VARCHAR NOT NULL,
    created_at VARCHAR NOT NULL
);

CREATE TABLE IF NOT EXISTS release.current (
    name VARCHAR PRIMARY KEY,
    release_id VARCHAR NOT NULL
);

CREATE TABLE IF NOT EXISTS release.items (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    reviewers VARCHAR[] NOT NULL,
    PRIMARY KEY (release_id, item_id)
);

CREATE TABLE IF NOT EXISTS release.turns (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn > 0),
    question VARCHAR NOT NULL,
    image_positions INTEGER[] NOT NULL,
    call_key VARCHAR,
    prompt_version VARCHAR,
    PRIMARY KEY (release_id, item_id, turn)
);

CREATE TABLE IF NOT EXISTS release.references (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    reference VARCHAR NOT NULL,
    call_key VARCHAR,
    prompt_version VARCHAR,
    PRIMARY KEY (release_id, item_id, turn)
);

CREATE TABLE IF NOT EXISTS release.images (
    release_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    position INTEGER NOT NULL CHECK (position > 0),
    image_id VARCHAR NOT NULL,
    page_url VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    attribution VARCHAR,
    licence VARCHAR,
    licence_url VARCHAR,
    artist VARCHAR,
    PRIMARY KEY (release_id, item_id, position)
);

CREATE TABLE IF NOT EXISTS release.exports (
    release_id VARCHAR NOT NULL,
    path VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    n_bytes BIGINT NOT NULL,
    PRIMARY KEY (release_id, path)
);

CREATE SCHEMA IF NOT EXISTS evaluate;

CREATE TABLE IF NOT EXISTS evaluate.answers (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN ('answered', 'refused', 'failed')),
    answer VARCHAR,
    call_key VARCHAR,
    prompt_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, item_id, turn),
    CHECK (status <> 'answered' OR answer IS NOT NULL),
    CHECK (status <> 'failed' OR answer IS NULL)
);

CREATE TABLE IF NOT EXISTS evaluate.judgments (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    scores MAP(VARCHAR, INTEGER) NOT NULL,
    score INTEGER NOT NULL,
    explanation VARCHAR NOT NULL,
    answer_call_key VARCHAR NOT NULL,
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    PRIMARY KEY (release_id, model, judge, item_id, turn)
);

CREATE TABLE IF NOT EXISTS evaluate.failed (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    stage VARCHAR NOT NULL CHECK (stage IN ('answers', 'judgments')),
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);

CREATE TABLE IF NOT EXISTS evaluate.scores (
    benchmark VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    dimension VARCHAR NOT NULL,
    aggregation VARCHAR NOT NULL,
    value DOUBLE,
    ci_low DOUBLE,
    ci_high DOUBLE,
    n_items INTEGER NOT NULL,
    n_turns INTEGER NOT NULL,
    n_judged INTEGER NOT NULL,
    n_failed INTEGER NOT NULL,
    n_refused INTEGER NOT NULL,
    PRIMARY KEY (release_id, model, judge, dimension, aggregation),
    CHECK (n_judged <= n_turns),
    CHECK (value IS NULL OR (ci_low <= value AND value <= ci_high))
);

CREATE TABLE IF NOT EXISTS evaluate.reports (
    release_id VARCHAR PRIMARY KEY,
    path VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    n_models INTEGER NOT NULL
);

CREATE SCHEMA IF NOT EXISTS ledger;

CREATE TABLE IF NOT EXISTS ledger.calls (
    key VARCHAR NOT NULL CHECK (length(key) > 0),
    status VARCHAR NOT NULL CHECK (status IN ('answered', 'lost')),
    provider VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    stage VARCHAR NOT NULL,
    run VARCHAR NOT NULL,
    via VARCHAR NOT NULL CHECK (via IN ('live', 'batch')),
    finish_reason VARCHAR NOT NULL,
    prompt_tokens BIGINT NOT NULL CHECK (prompt_tokens >= 0),
    completion_tokens BIGINT NOT NULL CHECK (completion_tokens >= 0),
    cost_usd DOUBLE NOT NULL CHECK (cost_usd >= 0),
    seconds DOUBLE CHECK (seconds >= 0),
    attempts INTEGER CHECK (attempts >= 0),
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CHECK (status <> 'answered' OR (seconds IS NOT NULL AND attempts IS NOT NULL))
);
