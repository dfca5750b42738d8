-- Generation: from an image set to one dialogue, every text with the call that made it.
CREATE SCHEMA IF NOT EXISTS dialogue;

CREATE TABLE IF NOT EXISTS dialogue.summaries (
    set_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    summary VARCHAR NOT NULL CHECK (length(summary) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (set_id, entry_id)
);

-- scope 'single': about the image at `position`; 'multi': about the set, position NULL.
CREATE TABLE IF NOT EXISTS dialogue.questions (
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
    set_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    answer VARCHAR NOT NULL CHECK (length(answer) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (question_id)
);

-- One dialogue: its images in order of appearance and its turns, `<image-i>` renumbered to them.
CREATE TABLE IF NOT EXISTS dialogue.dialogues (
    set_id VARCHAR NOT NULL,
    dialogue_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    image_ids VARCHAR[] NOT NULL,
    n_images INTEGER NOT NULL CHECK (n_images >= 2),
    n_turns INTEGER NOT NULL CHECK (n_turns >= 1),
    turns STRUCT(question_id VARCHAR, question VARCHAR, answer VARCHAR)[] NOT NULL,
    PRIMARY KEY (dialogue_id)
);

-- What generation lost, and why; `subject` is the entry, the set or the dialogue it was asked for.
CREATE TABLE IF NOT EXISTS dialogue.failed (
    stage VARCHAR NOT NULL CHECK (stage IN ('summaries', 'questions', 'answers', 'dialogues')),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
