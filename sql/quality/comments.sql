-- What each column of the tables and views of this stage means: DuckDB's prompt and Dagster's UI show it.

COMMENT ON COLUMN quality.checks.set_id IS 'Image set that the dialogue is about.';
COMMENT ON COLUMN quality.checks.dialogue_id IS 'Dialogue of dialogue.dialogues, whose id is a hash of exactly these texts.';
COMMENT ON COLUMN quality.checks.question_id IS 'Question of the pair.';
COMMENT ON COLUMN quality.checks.turn IS 'Place of the pair in the dialogue, from 1.';
COMMENT ON COLUMN quality.checks.kind IS 'What the dialogue is for: benchmark or instruction.';
COMMENT ON COLUMN quality.checks.outcome IS 'pass, review (people look at it first) or drop (it enters no instruction set).';
COMMENT ON COLUMN quality.checks.reasons IS 'Checks that found something, by the names of their columns; not all of them decide.';
COMMENT ON COLUMN quality.checks.refusal IS 'Opening of an answer that declines or sees no picture; NULL if it answers.';
COMMENT ON COLUMN quality.checks.truncation IS 'End of a text that stops in the middle of a sentence; NULL if none does.';
COMMENT ON COLUMN quality.checks.length IS 'Text that is too short or too long, in words; NULL if none is.';
COMMENT ON COLUMN quality.checks.language IS 'What is not in the wanted language; NULL if nothing tells otherwise.';
COMMENT ON COLUMN quality.checks.leftover IS 'Label, fence, tag or offer of help that a reply left in a text; NULL without any.';
COMMENT ON COLUMN quality.checks.material IS 'Words that speak of a caption, notes or a page; NULL without any.';
COMMENT ON COLUMN quality.checks.leak IS 'What the question says that only a caption, a title or a page says; NULL if nothing.';
COMMENT ON COLUMN quality.checks.repeated IS 'Earlier turn of the dialogue that asks nearly the same; NULL without one.';
COMMENT ON COLUMN quality.checks.near_duplicate IS 'Questions of all dialogues that are nearly the same, where there are too many; NULL otherwise.';
COMMENT ON COLUMN quality.checks.personal_data IS 'E-mail address, telephone number, IBAN or card number, its middle left out; NULL without any.';
COMMENT ON COLUMN quality.checks.blind_answer IS 'Answer of a model that was shown no picture; NULL if it was not asked.';
COMMENT ON COLUMN quality.checks.blind_grade IS 'Its grade against the reference answer, 0 to 10: a high one needs no picture.';
COMMENT ON COLUMN quality.checks.other_answer IS 'Answer of a model that was shown the pictures of another set; NULL if it was not asked.';
COMMENT ON COLUMN quality.checks.other_grade IS 'Its grade against the reference answer, 0 to 10: a high one needs other pictures just as well.';
COMMENT ON COLUMN quality.checks.unsupported IS 'Claims of the answer that the pictures do not support; NULL if it was not checked.';
COMMENT ON COLUMN quality.checks.contradictions IS 'What the answer says against another answer of the dialogue; NULL if it was not checked.';
COMMENT ON COLUMN quality.checks.sensitive IS 'Private people who are named, and unsafe content; NULL if it was not checked.';
COMMENT ON COLUMN quality.checks.unanswered IS 'Where the answer does not answer its question; NULL if it was not checked.';
COMMENT ON COLUMN quality.checks.not_checked IS 'Checks by a model that could not be made, and why; NULL if all that were wanted were.';

COMMENT ON COLUMN quality.asked.set_id IS 'Image set that the dialogue is about.';
COMMENT ON COLUMN quality.asked.dialogue_id IS 'Dialogue whose pairs were asked about.';
COMMENT ON COLUMN quality.asked.step IS 'What was asked: an answer without the pictures, its grade, unsupported claims and so on.';
COMMENT ON COLUMN quality.asked.call_key IS 'Model call that answered: a key of ledger.calls.';
COMMENT ON COLUMN quality.asked.prompt_version IS 'Prompt and its hash, such as quality/blind@1a2b3c4d.';
COMMENT ON COLUMN quality.asked.provider IS 'Who answered the call; offline is the stand-in.';

COMMENT ON COLUMN quality.failed.stage IS 'Step that lost it: a table of this stage.';
COMMENT ON COLUMN quality.failed.set_id IS 'Image set that was asked about.';
COMMENT ON COLUMN quality.failed.subject IS 'Dialogue and check that is lacking.';
COMMENT ON COLUMN quality.failed.reason IS 'Reason of the loss as one word, to count by.';
COMMENT ON COLUMN quality.failed.detail IS 'What went wrong, in a sentence.';
COMMENT ON COLUMN quality.failed.call_key IS 'Model call that failed; NULL if nothing was asked.';
