-- The answers that stand in the score queue: same question, reference and answer.
SELECT q.item_id AS queue_id, a.release_id, a.model, a.item_id, a.trial, a.turn
FROM evaluate.score_queue AS q
JOIN evaluate.shown_answers AS a ON a.answer = (q.content ->> 'answer')
JOIN release.turns AS t
    ON t.release_id = a.release_id
    AND t.item_id = a.item_id
    AND t.turn = a.turn
    AND t.question = (q.content ->> 'question')
JOIN release.references AS r
    ON r.release_id = a.release_id
    AND r.item_id = a.item_id
    AND r.turn = a.turn
    AND r.kind = 'answer'
    AND r.reference = (q.content ->> 'reference')
ORDER BY ALL;
