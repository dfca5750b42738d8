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
COMMENT ON COLUMN dialogue.questions.prompt_version IS 'Prompt and its hash, such as mmdu/questions@9df5a236.';
COMMENT ON COLUMN dialogue.questions.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN dialogue.answers.set_id IS 'Image set that the question is about.';
COMMENT ON COLUMN dialogue.answers.question_id IS 'Question that is answered.';
COMMENT ON COLUMN dialogue.answers.answer IS 'Answer of the writer model, later the reference answer.';
COMMENT ON COLUMN dialogue.answers.call_key IS 'Model call that made it: a key of ledger.calls.';
COMMENT ON COLUMN dialogue.answers.prompt_version IS 'Prompt and its hash, such as mmdu/answers@6ed86f0e.';
COMMENT ON COLUMN dialogue.answers.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN dialogue.dialogues.set_id IS 'Image set that the dialogue is about.';
COMMENT ON COLUMN dialogue.dialogues.dialogue_id IS 'Id of the dialogue: a hash of its content.';
COMMENT ON COLUMN dialogue.dialogues.kind IS 'What the dialogue is for: benchmark or instruction.';
COMMENT ON COLUMN dialogue.dialogues.image_ids IS 'Images in the order in which they enter the dialogue, as SHA-256 of their files.';
COMMENT ON COLUMN dialogue.dialogues.n_images IS 'Images in the dialogue, from 2.';
COMMENT ON COLUMN dialogue.dialogues.n_turns IS 'Pairs of question and answer, from 1.';
COMMENT ON COLUMN dialogue.dialogues.turns IS 'The dialogue: question and answer of each turn, <image-i> being the i-th of image_ids.';

COMMENT ON COLUMN dialogue.failed.stage IS 'Step that lost it: summaries, questions, answers or dialogues.';
COMMENT ON COLUMN dialogue.failed.set_id IS 'Image set that it was asked for.';
COMMENT ON COLUMN dialogue.failed.subject IS 'Entry, question or dialogue that is lacking.';
COMMENT ON COLUMN dialogue.failed.reason IS 'Reason of the loss as one word, to count by.';
COMMENT ON COLUMN dialogue.failed.detail IS 'What went wrong, in a sentence.';
COMMENT ON COLUMN dialogue.failed.call_key IS 'Model call that failed; NULL if nothing was asked.';
