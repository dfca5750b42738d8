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

COMMENT ON COLUMN choice.failed.stage IS 'Step that lost it: items, mmiu_items or translations.';
COMMENT ON COLUMN choice.failed.set_id IS 'Image set that the entry was drawn into, or the metadata file.';
COMMENT ON COLUMN choice.failed.subject IS 'Entry and ability or task that an item was asked for, item and language, or the sample of a metadata file.';
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
COMMENT ON COLUMN choice.mmiu_items.set_id IS 'Image set of the entry that its sample was made of, or the metadata file.';
COMMENT ON COLUMN choice.mmiu_items.item_id IS 'Id of the item: a hash of task, texts, images and choices, without the answer.';
COMMENT ON COLUMN choice.mmiu_items.group_id IS 'Item that an unanswerable one was made of; the id of any other is its own group.';
COMMENT ON COLUMN choice.mmiu_items.task IS 'One of MMIU''s 52 tasks, such as jigsaw-puzzle-solving.';
COMMENT ON COLUMN choice.mmiu_items.source IS 'Page of the entry that its sample was made of, or what the metadata names.';
COMMENT ON COLUMN choice.mmiu_items.image_ids IS 'Images in the order that they are shown in, as SHA-256 of their files; candidates come last.';
COMMENT ON COLUMN choice.mmiu_items.context IS 'What the task is, told before the question; may be empty.';
COMMENT ON COLUMN choice.mmiu_items.question IS 'Question of the sample.';
COMMENT ON COLUMN choice.mmiu_items.choices IS 'Choices in order of letter, without their letters.';
COMMENT ON COLUMN choice.mmiu_items.answer IS 'Letter of the right choice, which no model decided.';
COMMENT ON COLUMN choice.mmiu_items.form IS 'Form of the right output: image, number, order, name, yes/no or text; wrong choices of a text are a model''s.';
COMMENT ON COLUMN choice.mmiu_items.strategy IS 'What left the question without a right choice but that it cannot be answered; NULL for answerable ones.';
COMMENT ON COLUMN choice.mmiu_items.call_key IS 'Model call that wrote the wrong choices: a key of ledger.calls; NULL if a rule made them.';
COMMENT ON COLUMN choice.mmiu_items.prompt_version IS 'Prompt of that call and its hash; NULL if a rule made them.';
COMMENT ON COLUMN choice.mmiu_items.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN choice.mmiu_images.image_id IS 'Picture, as SHA-256 of its file.';
COMMENT ON COLUMN choice.mmiu_images.made_from IS 'Pictures of entries that it was made of; none if it came with metadata.';
COMMENT ON COLUMN choice.mmiu_images.change IS 'What was done to them, such as its middle, mirrored left to right.';
COMMENT ON COLUMN choice.mmiu_images.source IS 'What the metadata names as its source; NULL if it was made of entries.';
