-- Rewrites: other wordings of one prompt, for the robustness of a score to style (AlignMMBench 3.2).
CREATE SCHEMA IF NOT EXISTS rewrite;

CREATE TABLE IF NOT EXISTS rewrite.rewrites (
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

-- What rewriting and drafting lost, and why; `subject` is the dialogue or the seed whose question was to be
-- rewritten, the entry that is no candidate, or the entry and the task that a draft was asked for.
CREATE TABLE IF NOT EXISTS rewrite.failed (
    stage VARCHAR NOT NULL CHECK (
        stage IN ('rewrites', 'candidates', 'seeds', 'seed_rewrites', 'contexts')
    ),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);

-- AlignMMBench: pictures that questions of a task may be written about, and the keywords that found them.
CREATE TABLE IF NOT EXISTS rewrite.candidates (
    task VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL CHECK (length(image_id) = 64),
    keywords VARCHAR[] NOT NULL,
    seen VARCHAR[] NOT NULL,
    PRIMARY KEY (task, image_id),
    CHECK (len(keywords) + len(seen) > 0)
);

-- Unit vectors of pictures by a CLIP-like encoder, each picture encoded once.
CREATE TABLE IF NOT EXISTS rewrite.picture_vectors (
    image_id VARCHAR NOT NULL CHECK (length(image_id) = 64),
    encoder VARCHAR NOT NULL,
    vector FLOAT[] NOT NULL CHECK (len(vector) > 0),
    PRIMARY KEY (image_id, encoder)
);

-- AlignMMBench: single questions with their references. What is about one picture is together: `set_id` is
-- its image_id.
CREATE TABLE IF NOT EXISTS rewrite.seeds (
    set_id VARCHAR NOT NULL,
    seed_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    language VARCHAR NOT NULL CHECK (language IN ('en', 'zh')),
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    reference VARCHAR NOT NULL CHECK (length(reference) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (seed_id),
    UNIQUE (task, image_id)
);

-- AlignMMBench: the seeds' questions in other words. `ordinal` is the place among those that were kept.
CREATE TABLE IF NOT EXISTS rewrite.seed_rewrites (
    set_id VARCHAR NOT NULL,
    rewrite_id VARCHAR NOT NULL,
    seed_id VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL CHECK (ordinal > 0),
    original VARCHAR NOT NULL,
    rewrite VARCHAR NOT NULL CHECK (length(rewrite) > 0),
    similarity DOUBLE NOT NULL CHECK (similarity BETWEEN -1.001 AND 1.001),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (rewrite_id),
    UNIQUE (seed_id, ordinal)
);

-- AlignMMBench: dialogues whose last question is asked with the earlier turns as they stand. `error` has the
-- words of an earlier answer that are wrong on purpose; NULL in coherent ones.
CREATE TABLE IF NOT EXISTS rewrite.contexts (
    set_id VARCHAR NOT NULL,
    dialogue_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    task VARCHAR NOT NULL CHECK (task IN ('Coherence', 'Incoherence')),
    language VARCHAR NOT NULL CHECK (language IN ('en', 'zh')),
    turns STRUCT(question VARCHAR, answer VARCHAR)[] NOT NULL CHECK (len(turns) BETWEEN 2 AND 4),
    error VARCHAR,
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (dialogue_id),
    UNIQUE (task, image_id),
    CHECK ((task = 'Incoherence') = (error IS NOT NULL))
);
