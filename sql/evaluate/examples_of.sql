-- Every model's answer to every turn of a release's first dialogues, with what one judge said.
SELECT
    i.item_id,
    i.ordinal,
    i.reviewers,
    i.revision,
    t.turn,
    t.question,
    t.image_positions,
    t.call_key AS question_call_key,
    t.prompt_version,
    r.reference,
    r.call_key AS reference_call_key,
    a.model,
    a.status,
    a.answer,
    a.call_key AS answer_call_key,
    map_entries(j.scores) AS scores,
    j.score,
    j.explanation,
    j.call_key AS judge_call_key,
    f.reason
FROM release.items AS i
JOIN release.turns AS t USING (release_id, item_id)
JOIN release.references AS r USING (release_id, item_id, turn)
JOIN evaluate.answers AS a
    ON a.release_id = i.release_id AND a.item_id = i.item_id AND a.turn = t.turn
LEFT JOIN (
    SELECT * FROM evaluate.judgments WHERE judge = $judge
) AS j
    ON j.release_id = a.release_id
    AND j.model = a.model
    AND j.item_id = a.item_id
    AND j.turn = a.turn
    AND j.answer_call_key = a.call_key
LEFT JOIN (
    SELECT release_id, model, item_id, turn, any_value(reason) AS reason
    FROM evaluate.failed
    GROUP BY release_id, model, item_id, turn
) AS f
    ON f.release_id = a.release_id
    AND f.model = a.model
    AND f.item_id = a.item_id
    AND f.turn = a.turn
WHERE i.release_id = $release_id AND i.ordinal <= $n_items
ORDER BY i.ordinal, t.turn, a.model;
