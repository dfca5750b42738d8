-- What each judge said of the answers to a release's first items, repetitions left out.
SELECT
    j.item_id,
    j.turn,
    j.model,
    j.trial,
    j.part,
    j.judge,
    j.prompt_version AS version,
    map_entries(j.scores) AS scores,
    j.score,
    j.explanation,
    j.call_key
FROM evaluate.shown_judgments AS j
JOIN evaluate.shown_answers AS a USING (release_id, model, item_id, trial, turn)
JOIN release.items AS i USING (release_id, item_id)
WHERE j.release_id = $release_id
    AND i.ordinal <= $n_items
    AND j.replicate = 0
    AND j.answer_call_key IS NOT DISTINCT FROM a.call_key
ORDER BY j.judge, j.part;
