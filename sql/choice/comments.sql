-- What each column of the tables and views of this stage means: DuckDB's prompt and Dagster's UI show it.

COMMENT ON COLUMN choice.items.set_id IS 'Image set that the entry was drawn into.';
COMMENT ON COLUMN choice.items.item_id IS 'Id of the item: a hash of entry, ability, question, hint and choices, without the answer.';
COMMENT ON COLUMN choice.items.entry_id IS 'Entry of ingest.entries that the item was written from.';
COMMENT ON COLUMN choice.items.image_id IS 'Image that is shown, as SHA-256 of its file.';
COMMENT ON COLUMN choice.items.ability IS 'Ability that is asked for: a leaf of MMBench''s taxonomy, such as image_scene.';
COMMENT ON COLUMN choice.items.question IS 'Question as the model wrote it.';
COMMENT ON COLUMN choice.items.hint IS 'What a reader is told beside the question; NULL if nothing.';
COMMENT ON COLUMN choice.items.choices IS 'Choices in order of letter, without their letters.';
COMMENT ON COLUMN choice.items.answer IS 'Letter of the right choice, which no model decided.';
COMMENT ON COLUMN choice.items.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN choice.items.prompt_version IS 'Prompt and its hash, such as mmbench/write_item@b0934baf.';
COMMENT ON COLUMN choice.items.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN choice.failed.stage IS 'Step that lost it: items or translations.';
COMMENT ON COLUMN choice.failed.set_id IS 'Image set that the entry was drawn into.';
COMMENT ON COLUMN choice.failed.subject IS 'Entry and ability, or item and language, that it was asked for.';
COMMENT ON COLUMN choice.failed.reason IS 'Reason of the loss as one word, to count by.';
COMMENT ON COLUMN choice.failed.detail IS 'What went wrong, in a sentence.';
COMMENT ON COLUMN choice.failed.call_key IS 'Model call that failed; NULL if nothing was asked.';

COMMENT ON COLUMN choice.translations.set_id IS 'Image set that the item''s entry was drawn into.';
COMMENT ON COLUMN choice.translations.translation_id IS 'Id of the translation: a hash of item, language and texts; the item_id that it is reviewed under.';
COMMENT ON COLUMN choice.translations.item_id IS 'Item of choice.items that is translated, and the item_id that it is released under.';
COMMENT ON COLUMN choice.translations.language IS 'Language of the translation, such as zh.';
COMMENT ON COLUMN choice.translations.source_hash IS 'Hash of the item''s content, as review.queue had it when it was translated.';
COMMENT ON COLUMN choice.translations.question IS 'Question in that language.';
COMMENT ON COLUMN choice.translations.hint IS 'Hint in that language; NULL if the item has none.';
COMMENT ON COLUMN choice.translations.choices IS 'Choices in that language, in the order of the item''s.';
COMMENT ON COLUMN choice.translations.names IS 'Names of the item that were listed, and what stands for each.';
COMMENT ON COLUMN choice.translations.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN choice.translations.prompt_version IS 'Prompt and its hash, such as mmbench/translate@b0934baf.';
COMMENT ON COLUMN choice.translations.provider IS 'Who answered the call; offline is the stand-in.';
