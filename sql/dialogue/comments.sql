-- What each column of the tables and views of this stage means: DuckDB's prompt and Dagster's UI show it.

COMMENT ON COLUMN dialogue.summaries.set_id IS 'Image set that the summary was made for.';
COMMENT ON COLUMN dialogue.summaries.entry_id IS 'Entry that is summarized.';
COMMENT ON COLUMN dialogue.summaries.summary IS 'Summary of the entry''s page, as the writer model gave it.';
COMMENT ON COLUMN dialogue.summaries.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN dialogue.summaries.prompt_version IS 'Prompt and its hash, such as mmdu/summary@680a5121.';
COMMENT ON COLUMN dialogue.summaries.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN dialogue.questions.set_id IS 'Image set that the question is about.';
COMMENT ON COLUMN dialogue.questions.question_id IS 'Id of the question: a hash of its set, its place and its text.';
COMMENT ON COLUMN dialogue.questions.scope IS 'single (about one image) or multi (about several images of the set).';
COMMENT ON COLUMN dialogue.questions.position IS 'Image that a single question is about, from 1; NULL for a question about several.';
COMMENT ON COLUMN dialogue.questions.ordinal IS 'Place among the questions of one call, from 1.';
COMMENT ON COLUMN dialogue.questions.question IS 'Text of the question; <image-i> names the i-th image of the set.';
COMMENT ON COLUMN dialogue.questions.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN dialogue.questions.prompt_version IS 'Prompt and its hash, such as mmdu/questions@5648cbe6.';
COMMENT ON COLUMN dialogue.questions.provider IS 'Who answered the call; offline is the stand-in.';
COMMENT ON COLUMN dialogue.questions.angle IS 'What the question was to be after, such as mood; NULL where it was left to the writer.';
COMMENT ON COLUMN dialogue.questions.until_position IS 'Last image that a question about several is on, from the first; NULL: about one, or all.';

COMMENT ON COLUMN dialogue.answers.set_id IS 'Image set that the question is about.';
COMMENT ON COLUMN dialogue.answers.question_id IS 'Question that is answered.';
COMMENT ON COLUMN dialogue.answers.answer IS 'Answer of the writer model, later the reference answer.';
COMMENT ON COLUMN dialogue.answers.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN dialogue.answers.prompt_version IS 'Prompt and its hash, such as mmdu/answers@4a22b3ac.';
COMMENT ON COLUMN dialogue.answers.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN dialogue.dialogues.set_id IS 'Image set that the dialogue is about; of stacked dialogues the first one''s.';
COMMENT ON COLUMN dialogue.dialogues.dialogue_id IS 'Id of the dialogue: a hash of its content.';
COMMENT ON COLUMN dialogue.dialogues.kind IS 'What the dialogue is for: benchmark or instruction.';
COMMENT ON COLUMN dialogue.dialogues.image_ids IS 'Images in the order in which they enter the dialogue, as SHA-256 of their files.';
COMMENT ON COLUMN dialogue.dialogues.n_images IS 'Images in the dialogue, from 2.';
COMMENT ON COLUMN dialogue.dialogues.n_turns IS 'Pairs of question and answer, from 1.';
COMMENT ON COLUMN dialogue.dialogues.turns IS 'The dialogue: question and answer of each turn, <image-i> being the i-th of image_ids.';

COMMENT ON COLUMN dialogue.failed.stage IS 'Step that lost it: a table of this stage, such as summaries or three_turns.';
COMMENT ON COLUMN dialogue.failed.set_id IS 'Image set that it was asked for, or the image.';
COMMENT ON COLUMN dialogue.failed.subject IS 'Entry, question, dialogue or item that is lacking.';
COMMENT ON COLUMN dialogue.failed.reason IS 'Reason of the loss as one word, to count by.';
COMMENT ON COLUMN dialogue.failed.detail IS 'What went wrong, in a sentence.';
COMMENT ON COLUMN dialogue.failed.call_key IS 'Model call that failed; NULL if nothing was asked.';

COMMENT ON COLUMN dialogue.instructions.set_id IS 'Image that it is about: what is about one image is together.';
COMMENT ON COLUMN dialogue.instructions.instruction_id IS 'Id of the instruction: a hash of image and text.';
COMMENT ON COLUMN dialogue.instructions.entry_id IS 'Entry of ingest.entries that it was written from.';
COMMENT ON COLUMN dialogue.instructions.image_id IS 'Image that is shown, as SHA-256 of its file.';
COMMENT ON COLUMN dialogue.instructions.instruction IS 'What somebody may want to have made of the picture, in the model''s words.';
COMMENT ON COLUMN dialogue.instructions.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN dialogue.instructions.prompt_version IS 'Prompt and its hash, such as convbench/write_instruction@b0934baf.';
COMMENT ON COLUMN dialogue.instructions.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN dialogue.three_turns.set_id IS 'Image that the conversation is about.';
COMMENT ON COLUMN dialogue.three_turns.item_id IS 'Id of the item: a hash of image, instruction, questions and focus points.';
COMMENT ON COLUMN dialogue.three_turns.instruction_id IS 'Instruction of dialogue.instructions that was divided into turns.';
COMMENT ON COLUMN dialogue.three_turns.entry_id IS 'Entry of ingest.entries that it was written from.';
COMMENT ON COLUMN dialogue.three_turns.image_id IS 'Image that is shown, as SHA-256 of its file.';
COMMENT ON COLUMN dialogue.three_turns.turns IS 'Perception, reasoning and creation: the question of each, and the name of its task.';
COMMENT ON COLUMN dialogue.three_turns.focus IS 'What a good creation has to have, point by point.';
COMMENT ON COLUMN dialogue.three_turns.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN dialogue.three_turns.prompt_version IS 'Prompt and its hash, such as convbench/write_turns@b0934baf.';
COMMENT ON COLUMN dialogue.three_turns.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN dialogue.turn_references.set_id IS 'Image that the conversation is about.';
COMMENT ON COLUMN dialogue.turn_references.item_id IS 'Conversation of dialogue.three_turns.';
COMMENT ON COLUMN dialogue.turn_references.turn IS 'Turn that it is of, from 1; the caption is of turn 1.';
COMMENT ON COLUMN dialogue.turn_references.kind IS 'caption (of the picture, for these questions) or answer.';
COMMENT ON COLUMN dialogue.turn_references.reference IS 'Caption or reference answer, as the writer model gave it.';
COMMENT ON COLUMN dialogue.turn_references.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN dialogue.turn_references.prompt_version IS 'Prompt and its hash, such as convbench/write_reference@b0934baf.';
COMMENT ON COLUMN dialogue.turn_references.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN dialogue.turn_categories.capability IS 'Turn that names are compared in: perception, reasoning or creation.';
COMMENT ON COLUMN dialogue.turn_categories.name IS 'Name of a task as in dialogue.three_turns.';
COMMENT ON COLUMN dialogue.turn_categories.n_turns IS 'Turns whose task has this name.';
COMMENT ON COLUMN dialogue.turn_categories.category IS 'Name of the category: of its names the one that most turns have.';
COMMENT ON COLUMN dialogue.turn_categories.similarity IS 'Cosine similarity of name and category, by the embedding model.';
COMMENT ON COLUMN dialogue.turn_categories.nearest IS 'Other category that is most like the name; NULL where there is no other.';
COMMENT ON COLUMN dialogue.turn_categories.nearest_similarity IS 'Cosine similarity of the name to that other category.';

COMMENT ON COLUMN dialogue.dialogue_images.dialogue_id IS 'Dialogue of dialogue.dialogues.';
COMMENT ON COLUMN dialogue.dialogue_images.position IS 'Place of the picture in the dialogue, from 1.';
COMMENT ON COLUMN dialogue.dialogue_images.image_id IS 'Image, as SHA-256 of its file.';
COMMENT ON COLUMN dialogue.dialogue_images.set_id IS 'Set that the picture is of; a stack has several sets.';
COMMENT ON COLUMN dialogue.dialogue_images.entry_id IS 'Entry of the set that the picture is of.';
