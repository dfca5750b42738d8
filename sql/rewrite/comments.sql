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

COMMENT ON COLUMN rewrite.failed.stage IS 'Step that lost it: rewrites, candidates, seeds, seed_rewrites or contexts.';
COMMENT ON COLUMN rewrite.failed.set_id IS 'Image set of the dialogue, or the image that it is about.';
COMMENT ON COLUMN rewrite.failed.subject IS 'Dialogue or seed whose question was to be rewritten, entry that is no candidate, or entry and task of a draft.';
COMMENT ON COLUMN rewrite.failed.reason IS 'Reason of the loss as one word, to count by.';
COMMENT ON COLUMN rewrite.failed.detail IS 'What went wrong, in a sentence.';
COMMENT ON COLUMN rewrite.failed.call_key IS 'Model call that failed; NULL if nothing was asked.';

COMMENT ON COLUMN rewrite.candidates.task IS 'One of AlignMMBench''s 13 tasks, such as Counting.';
COMMENT ON COLUMN rewrite.candidates.entry_id IS 'Entry of ingest.entries whose texts or picture have a keyword.';
COMMENT ON COLUMN rewrite.candidates.image_id IS 'Image of the entry, as SHA-256 of its file; no two candidates look alike.';
COMMENT ON COLUMN rewrite.candidates.keywords IS 'Keywords of the task that caption, title or categories have.';
COMMENT ON COLUMN rewrite.candidates.seen IS 'Keywords of the task that the picture shows, where a picture encoder is set.';

COMMENT ON COLUMN rewrite.picture_vectors.image_id IS 'Image, as SHA-256 of its file.';
COMMENT ON COLUMN rewrite.picture_vectors.encoder IS 'Name or folder of the CLIP-like model that made the vector.';
COMMENT ON COLUMN rewrite.picture_vectors.vector IS 'Unit vector of the picture, in one space with those of texts.';

COMMENT ON COLUMN rewrite.seeds.set_id IS 'Image that the question is about: what is about one image is together.';
COMMENT ON COLUMN rewrite.seeds.seed_id IS 'Id of the seed: a hash of image, task, question and reference; the group of its wordings in a release.';
COMMENT ON COLUMN rewrite.seeds.entry_id IS 'Entry of ingest.entries that it was written from.';
COMMENT ON COLUMN rewrite.seeds.image_id IS 'Image that is shown, as SHA-256 of its file.';
COMMENT ON COLUMN rewrite.seeds.task IS 'One of AlignMMBench''s tasks with a single question.';
COMMENT ON COLUMN rewrite.seeds.language IS 'Language of question and reference: en or zh.';
COMMENT ON COLUMN rewrite.seeds.question IS 'Question as the model wrote it.';
COMMENT ON COLUMN rewrite.seeds.reference IS 'Reference answer as the model wrote it.';
COMMENT ON COLUMN rewrite.seeds.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN rewrite.seeds.prompt_version IS 'Prompt and its hash, such as alignmmbench/write_seed@b0934baf.';
COMMENT ON COLUMN rewrite.seeds.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN rewrite.seed_rewrites.set_id IS 'Image that the question is about.';
COMMENT ON COLUMN rewrite.seed_rewrites.rewrite_id IS 'Id of the rewrite: a hash of its seed and its text.';
COMMENT ON COLUMN rewrite.seed_rewrites.seed_id IS 'Seed of rewrite.seeds whose question is rewritten.';
COMMENT ON COLUMN rewrite.seed_rewrites.ordinal IS 'Place among the rewrites of one seed, from 1.';
COMMENT ON COLUMN rewrite.seed_rewrites.original IS 'Question of the seed.';
COMMENT ON COLUMN rewrite.seed_rewrites.rewrite IS 'The same question in other words.';
COMMENT ON COLUMN rewrite.seed_rewrites.similarity IS 'Cosine similarity of rewrite and question, by the embedding model.';
COMMENT ON COLUMN rewrite.seed_rewrites.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN rewrite.seed_rewrites.prompt_version IS 'Prompt and its hash, such as rewriting/rewrite@b0934baf.';
COMMENT ON COLUMN rewrite.seed_rewrites.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN rewrite.contexts.set_id IS 'Image that the dialogue is about: what is about one image is together.';
COMMENT ON COLUMN rewrite.contexts.dialogue_id IS 'Id of the dialogue: a hash of image, task and texts.';
COMMENT ON COLUMN rewrite.contexts.entry_id IS 'Entry of ingest.entries that it was written from.';
COMMENT ON COLUMN rewrite.contexts.image_id IS 'Image that is shown, as SHA-256 of its file.';
COMMENT ON COLUMN rewrite.contexts.task IS 'Coherence or Incoherence.';
COMMENT ON COLUMN rewrite.contexts.language IS 'Language of all turns: en or zh.';
COMMENT ON COLUMN rewrite.contexts.turns IS 'Turns with question and answer; the last answer is the reference, the others are the given history.';
COMMENT ON COLUMN rewrite.contexts.error IS 'Words of an earlier answer that are wrong on purpose; NULL in Coherence.';
COMMENT ON COLUMN rewrite.contexts.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN rewrite.contexts.prompt_version IS 'Prompt and its hash, such as alignmmbench/write_dialogue@b0934baf.';
COMMENT ON COLUMN rewrite.contexts.provider IS 'Who answered the call; offline is the stand-in.';
