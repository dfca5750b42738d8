-- What extractors read in answers on one release, beside what counts.
SELECT s.model, s.item_id, s.trial, s.turn, s.extractor, s.value
FROM evaluate.second_readings AS s
JOIN evaluate.shown_answers AS a USING (release_id, model, item_id, trial, turn)
WHERE s.release_id = $release_id AND s.answer_call_key IS NOT DISTINCT FROM a.call_key;
