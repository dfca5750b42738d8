-- Generation and review are no longer divided into buckets: rows are the unit of progress.

CREATE TABLE cluster.new_image_sets (
    set_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    cluster_id VARCHAR NOT NULL,
    position INTEGER NOT NULL CHECK (position BETWEEN 1 AND 20),
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    PRIMARY KEY (set_id, position)
);
INSERT INTO cluster.new_image_sets
SELECT * EXCLUDE (bucket) FROM cluster.image_sets;
DROP TABLE cluster.image_sets;
ALTER TABLE cluster.new_image_sets RENAME TO image_sets;

CREATE TABLE dialogue.new_summaries (
    set_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    summary VARCHAR NOT NULL CHECK (length(summary) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (set_id, entry_id)
);
INSERT INTO dialogue.new_summaries
SELECT * EXCLUDE (bucket) FROM dialogue.summaries;
DROP TABLE dialogue.summaries;
ALTER TABLE dialogue.new_summaries RENAME TO summaries;

CREATE TABLE dialogue.new_questions (
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
INSERT INTO dialogue.new_questions
SELECT * EXCLUDE (bucket) FROM dialogue.questions;
DROP TABLE dialogue.questions;
ALTER TABLE dialogue.new_questions RENAME TO questions;

CREATE TABLE dialogue.new_answers (
    set_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    answer VARCHAR NOT NULL CHECK (length(answer) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (question_id)
);
INSERT INTO dialogue.new_answers
SELECT * EXCLUDE (bucket) FROM dialogue.answers;
DROP TABLE dialogue.answers;
ALTER TABLE dialogue.new_answers RENAME TO answers;

CREATE TABLE dialogue.new_dialogues (
    set_id VARCHAR NOT NULL,
    dialogue_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    image_ids VARCHAR[] NOT NULL,
    n_images INTEGER NOT NULL CHECK (n_images >= 2),
    n_turns INTEGER NOT NULL CHECK (n_turns >= 1),
    turns STRUCT(question_id VARCHAR, question VARCHAR, answer VARCHAR)[] NOT NULL,
    PRIMARY KEY (dialogue_id)
);
INSERT INTO dialogue.new_dialogues
SELECT * EXCLUDE (bucket) FROM dialogue.dialogues;
DROP TABLE dialogue.dialogues;
ALTER TABLE dialogue.new_dialogues RENAME TO dialogues;

CREATE TABLE dialogue.new_failed (
    stage VARCHAR NOT NULL CHECK (stage IN ('summaries', 'questions', 'answers', 'dialogues')),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
INSERT INTO dialogue.new_failed
SELECT * EXCLUDE (bucket) FROM dialogue.failed;
DROP TABLE dialogue.failed;
ALTER TABLE dialogue.new_failed RENAME TO failed;

CREATE TABLE rewrite.new_rewrites (
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
INSERT INTO rewrite.new_rewrites
SELECT * EXCLUDE (bucket) FROM rewrite.rewrites;
DROP TABLE rewrite.rewrites;
ALTER TABLE rewrite.new_rewrites RENAME TO rewrites;

CREATE TABLE rewrite.new_failed (
    stage VARCHAR NOT NULL CHECK (stage = 'rewrites'),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
INSERT INTO rewrite.new_failed
SELECT * EXCLUDE (bucket) FROM rewrite.failed;
DROP TABLE rewrite.failed;
ALTER TABLE rewrite.new_failed RENAME TO failed;

CREATE TABLE review.new_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN (
        'dialogue', 'multiple_choice', 'rewrite', 'reference', 'translation', 'category',
        'extraction', 'score'
    )),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);
INSERT INTO review.new_queue
SELECT * EXCLUDE (bucket) FROM review.queue;
DROP TABLE review.queue;
ALTER TABLE review.new_queue RENAME TO queue;

CREATE TABLE evaluate.new_score_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind = 'score'),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);
INSERT INTO evaluate.new_score_queue
SELECT * EXCLUDE (bucket) FROM evaluate.score_queue;
DROP TABLE evaluate.score_queue;
ALTER TABLE evaluate.new_score_queue RENAME TO score_queue;
