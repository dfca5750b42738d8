-- What each column of the tables and views of this stage means: DuckDB's prompt and Dagster's UI show it.

COMMENT ON COLUMN review.queue.item_id IS 'Id of what is reviewed: a dialogue, a rewrite and so on.';
COMMENT ON COLUMN review.queue.kind IS 'Kind of item, which says what its content has in it: dialogue, rewrite, score and so on.';
COMMENT ON COLUMN review.queue.set_id IS 'Image set that the item is about.';
COMMENT ON COLUMN review.queue.content IS 'What people decide on, as JSON.';
COMMENT ON COLUMN review.queue.content_hash IS 'Hash of the content: a decision counts for exactly this content.';
COMMENT ON COLUMN review.queue.context IS 'What helps people to decide and is not decided on, as JSON.';
COMMENT ON COLUMN review.queue.image_ids IS 'Images that are shown, as SHA-256 of their files.';

COMMENT ON COLUMN review.decisions.event_id IS 'Number of the decision in the review store, in order of time.';
COMMENT ON COLUMN review.decisions.item_id IS 'Item that was decided on.';
COMMENT ON COLUMN review.decisions.content_hash IS 'Hash of the content that was decided on.';
COMMENT ON COLUMN review.decisions.round IS '1 (annotators) or 2 (experts).';
COMMENT ON COLUMN review.decisions.reviewer IS 'Account of the person who decided.';
COMMENT ON COLUMN review.decisions.verdict IS 'accept, edit, reject or skip.';
COMMENT ON COLUMN review.decisions.edits_hash IS 'Hash of the edited content; NULL unless it was edited.';
COMMENT ON COLUMN review.decisions.reason IS 'Reason of a rejection: factual_error, does_not_follow, incomplete, common_sense_error or other.';
COMMENT ON COLUMN review.decisions.note IS 'Remark of the reviewer; NULL without one.';
COMMENT ON COLUMN review.decisions.decided_at IS 'When it was decided: date and time in UTC.';

COMMENT ON COLUMN review.approved.item_id IS 'Item that generation made.';
COMMENT ON COLUMN review.approved.kind IS 'Kind of item: dialogue, rewrite and so on.';
COMMENT ON COLUMN review.approved.set_id IS 'Image set that the item is about.';
COMMENT ON COLUMN review.approved.status IS 'approved, rejected or pending.';
COMMENT ON COLUMN review.approved.content IS 'Content as approved, with people''s edits, as JSON.';
COMMENT ON COLUMN review.approved.content_hash IS 'Hash of that content.';
COMMENT ON COLUMN review.approved.revision IS 'Edits that led to it; 0 is the generated content.';
COMMENT ON COLUMN review.approved.reviewers IS 'People whose decisions count; policy:name where a policy decided instead of a person.';
COMMENT ON COLUMN review.approved.policy IS 'Of which items people''s decisions are demanded: none, sample or all.';
COMMENT ON COLUMN review.approved.policy_share IS 'Share of all items that decisions are demanded of, 0 to 1.';
COMMENT ON COLUMN review.approved.demanded IS 'Whether a decision by people is demanded of this item.';
COMMENT ON COLUMN review.approved.reason IS 'Reason of a rejection; NULL otherwise.';

COMMENT ON COLUMN review.agreement.kind IS 'Kind of item that people decided on.';
COMMENT ON COLUMN review.agreement.dimension IS 'What is compared: the verdict, or a dimension of a score.';
COMMENT ON COLUMN review.agreement.raters IS 'The two people as a|b, or all for all of them together.';
COMMENT ON COLUMN review.agreement.measure IS 'Measure of agreement, such as raw, cohen_kappa or krippendorff_ordinal.';
COMMENT ON COLUMN review.agreement.n_items IS 'Items that were compared.';
COMMENT ON COLUMN review.agreement.value IS 'The agreement: raw 0 to 1, mae in points from 0, all others -1 to 1; NULL if there is none.';
COMMENT ON COLUMN review.agreement.low IS 'Lower end of the 95 % interval.';
COMMENT ON COLUMN review.agreement.high IS 'Upper end of the 95 % interval.';
COMMENT ON COLUMN review.agreement.reason IS 'Why there is no value; NULL where there is one.';

COMMENT ON COLUMN review.effort.kind IS 'Kind of item that was decided on.';
COMMENT ON COLUMN review.effort.round IS '1 (annotators) or 2 (experts).';
COMMENT ON COLUMN review.effort.reviewer IS 'Account of the person.';
COMMENT ON COLUMN review.effort.n_decisions IS 'Decisions of the person, without skipped items.';
COMMENT ON COLUMN review.effort.n_skipped IS 'Items that the person skipped.';
COMMENT ON COLUMN review.effort.median_seconds IS 'Median time for one decision, in seconds; NULL if no time is known.';
COMMENT ON COLUMN review.effort.reasons IS 'Rejections by reason: reason to number.';
