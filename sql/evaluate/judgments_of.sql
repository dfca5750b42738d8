-- The judgments on some items of one release, of answers that have not been replaced.
SELECT
    j.model,
    j.judge,
    j.replicate,
    j.item_id,
    j.trial,
    j.turn,
    j.part,
    map_entries(j.scores) AS scores,
    j.score,
    j.explanation,
    j.call_key,
    j.judge_version
FROM evaluate.shown_judgments AS j
JOIN evaluate.shown_answers AS a USING (release_id, model, item_id, trial, turn)
SEMI JOIN (SELECT unnest($item_ids) AS item_id) AS wanted USING (item_id)
WHERE j.release_id = $release_id AND j.answer_call_key IS NOT DISTINCT FROM a.call_key
ORDER BY j.judge, j.judge_version, j.replicate, j.model;
