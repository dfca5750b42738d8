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

-- Each about one image of the set or about several: those at `positions`, rising.
CREATE TABLE IF NOT EXISTS dialogue.questions (
    set_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    positions INTEGER[] NOT NULL CHECK (len(positions) > 0),
    ordinal INTEGER NOT NULL CHECK (ordinal > 0),
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    angle VARCHAR,
    follows VARCHAR,
    PRIMARY KEY (question_id)
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

-- What generation lost, and why; `subject` is the entry, the set, the dialogue or the item it was asked for.
CREATE TABLE IF NOT EXISTS dialogue.failed (
    stage VARCHAR NOT NULL CHECK (
        stage IN (
            'summaries', 'questions', 'answers', 'dialogues', 'instructions', 'three_turns', 'turn_references'
        )
    ),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);

-- ConvBench: what somebody may want to have made of a picture. What is about one picture is together:
-- `set_id` is its image_id.
CREATE TABLE IF NOT EXISTS dialogue.instructions (
    set_id VARCHAR NOT NULL,
    instruction_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    instruction VARCHAR NOT NULL CHECK (length(instruction) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (instruction_id),
    UNIQUE (image_id)
);

-- ConvBench: perception, reasoning and creation for each instruction, in this order; `focus` is what a good
-- creation has to have, point by point.
CREATE TABLE IF NOT EXISTS dialogue.three_turns (
    set_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    instruction_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    turns STRUCT(question VARCHAR, task VARCHAR)[] NOT NULL CHECK (len(turns) = 3),
    focus VARCHAR[] NOT NULL CHECK (len(focus) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (item_id),
    UNIQUE (instruction_id)
);

-- ConvBench: the caption (of turn 1) and the answers of conversations that have all of them.
CREATE TABLE IF NOT EXISTS dialogue.turn_references (
    set_id VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    turn INTEGER NOT NULL CHECK (turn BETWEEN 1 AND 3),
    kind VARCHAR NOT NULL CHECK (kind IN ('caption', 'answer')),
    reference VARCHAR NOT NULL CHECK (length(reference) > 0),
    call_key VARCHAR NOT NULL,
    prompt_version VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    PRIMARY KEY (item_id, turn, kind),
    CHECK (kind = 'answer' OR turn = 1)
);

-- ConvBench: the category that each name of a task belongs to, among the names of its turn.
CREATE TABLE IF NOT EXISTS dialogue.turn_categories (
    capability VARCHAR NOT NULL CHECK (capability IN ('perception', 'reasoning', 'creation')),
    name VARCHAR NOT NULL,
    n_turns INTEGER NOT NULL CHECK (n_turns > 0),
    category VARCHAR NOT NULL,
    similarity DOUBLE NOT NULL CHECK (similarity BETWEEN -1.001 AND 1.001),
    nearest VARCHAR,
    nearest_similarity DOUBLE CHECK (nearest_similarity BETWEEN -1.001 AND 1.001),
    PRIMARY KEY (capability, name),
    CHECK ((nearest IS NULL) = (nearest_similarity IS NULL))
);
