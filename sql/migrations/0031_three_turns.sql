-- ConvBench's own construction: instructions, their three turns, references, task categories, and what was lost.
-- A CHECK cannot be altered: tables are made anew.
CREATE TABLE dialogue.new_failed (
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
INSERT INTO dialogue.new_failed BY NAME SELECT * FROM dialogue.failed;
DROP TABLE dialogue.failed;
ALTER TABLE dialogue.new_failed RENAME TO failed;

CREATE TABLE review.new_queue (
    item_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN (
        'dialogue', 'three_turns', 'multiple_choice', 'rewrite', 'reference', 'translation',
        'category', 'extraction', 'score'
    )),
    set_id VARCHAR NOT NULL,
    content JSON NOT NULL,
    content_hash VARCHAR NOT NULL,
    context JSON,
    image_ids VARCHAR[] NOT NULL
);
INSERT INTO review.new_queue BY NAME SELECT * FROM review.queue;
DROP TABLE review.queue;
ALTER TABLE review.new_queue RENAME TO queue;

-- ConvBench: what somebody may want to have made of a picture. What is about one picture is together:
-- `set_id` is its image_id.
CREATE TABLE dialogue.instructions (
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
CREATE TABLE dialogue.three_turns (
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
CREATE TABLE dialogue.turn_references (
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
CREATE TABLE dialogue.turn_categories (
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
