-- What each column of the tables and views of this stage means: DuckDB's prompt and Dagster's UI show it.

COMMENT ON COLUMN rewrite.rewrites.set_id IS 'Image set of the dialogue.';
COMMENT ON COLUMN rewrite.rewrites.rewrite_id IS 'Id of the rewrite: a hash of its dialogue, its place and its text.';
COMMENT ON COLUMN rewrite.rewrites.dialogue_id IS 'Dialogue whose first question is rewritten.';
COMMENT ON COLUMN rewrite.rewrites.ordinal IS 'Place among the rewrites of one question, from 1.';
COMMENT ON COLUMN rewrite.rewrites.original IS 'First question of the dialogue as it was.';
COMMENT ON COLUMN rewrite.rewrites.rewrite IS 'The same question in other words.';
COMMENT ON COLUMN rewrite.rewrites.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN rewrite.rewrites.prompt_version IS 'Prompt and its hash, such as rewriting/rewrite@b0934baf.';
COMMENT ON COLUMN rewrite.rewrites.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN rewrite.failed.stage IS 'Step that lost it, always rewrites.';
COMMENT ON COLUMN rewrite.failed.set_id IS 'Image set of the dialogue.';
COMMENT ON COLUMN rewrite.failed.subject IS 'Dialogue whose question was to be rewritten.';
COMMENT ON COLUMN rewrite.failed.reason IS 'Reason of the loss as one word, to count by.';
COMMENT ON COLUMN rewrite.failed.detail IS 'What went wrong, in a sentence.';
COMMENT ON COLUMN rewrite.failed.call_key IS 'Model call that failed; NULL if nothing was asked.';
