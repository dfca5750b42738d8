-- Questions on some of the images of a set, and questions that go on from an earlier one.
CREATE TEMP TABLE questions_before AS FROM dialogue.questions;
DROP TABLE dialogue.questions;
CREATE TABLE dialogue.questions (
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
INSERT INTO dialogue.questions BY NAME
SELECT
    q.* EXCLUDE (scope, position, until_position),
    CASE
        WHEN q.position IS NOT NULL THEN [q.position]
        ELSE range(1, coalesce(q.until_position, s.n_images, 2) + 1)::INTEGER[]
    END AS positions
FROM questions_before AS q
LEFT JOIN (
    SELECT set_id, count(*)::INTEGER AS n_images FROM cluster.image_sets GROUP BY set_id
) AS s USING (set_id);
DROP TABLE questions_before;
