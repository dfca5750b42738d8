-- Who judged which model's answers on one release, of answers that have not been replaced.
SELECT DISTINCT j.judge, j.judge_version, j.replicate, j.model
FROM evaluate.shown_judgments AS j
JOIN evaluate.shown_answers AS a USING (release_id, model, item_id, trial, turn)
WHERE j.release_id = $release_id AND j.answer_call_key IS NOT DISTINCT FROM a.call_key
ORDER BY ALL;
