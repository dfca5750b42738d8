-- rewrite.prompts holds rewrites, so it is rewrite.rewrites; what rewriting lost stands in its own stage.
ALTER TABLE rewrite.prompts RENAME TO rewrites;

CREATE TABLE rewrite.failed (
    bucket VARCHAR NOT NULL,
    stage VARCHAR NOT NULL CHECK (stage = 'rewrites'),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
INSERT INTO rewrite.failed
SELECT bucket, 'rewrites', set_id, subject, reason, detail, call_key
FROM dialogue.failed
WHERE stage = 'prompts';

-- A CHECK cannot be altered: the table is made anew.
CREATE TABLE dialogue.new_failed (
    bucket VARCHAR NOT NULL,
    stage VARCHAR NOT NULL CHECK (stage IN ('summaries', 'questions', 'answers', 'dialogues')),
    set_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    call_key VARCHAR
);
INSERT INTO dialogue.new_failed SELECT * FROM dialogue.failed WHERE stage <> 'prompts';
DROP TABLE dialogue.failed;
ALTER TABLE dialogue.new_failed RENAME TO failed;

-- The copy of the ledger names a call's stage by its table.
UPDATE ledger.calls SET stage = 'rewrite.rewrites' WHERE stage = 'rewrite.prompts';
