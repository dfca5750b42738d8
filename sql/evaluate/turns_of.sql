-- Every turn that models were to answer, with its status and its scores.
SELECT
    a.model,
    a.provider,
    a.item_id,
    a.turn,
    a.status,
    a.status = 'refused' AND a.answer IS NULL AS withheld,
    j.judge,
    j.provider AS judge_provider,
    map_entries(j.scores) AS scores
FROM evaluate.answers AS a
LEFT JOIN evaluate.judgments AS j
    ON j.release_id = a.release_id
    AND j.model = a.model
    AND j.item_id = a.item_id
    AND j.turn = a.turn
    AND j.answer_call_key = a.call_key
    AND j.judge = $judge
JOIN release.items AS i ON i.release_id = a.release_id AND i.item_id = a.item_id
WHERE a.release_id = $release_id AND list_contains($models, a.model)
ORDER BY a.model, i.ordinal, a.turn;
