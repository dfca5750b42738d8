-- The answers that stand in pairs of the score queue: same question, reference and answer. `place` is the
-- letter of the model's answer, `dimension` what the judge compares in this turn.
WITH queued (queue_id, question, answer, reference, place) AS (
    SELECT item_id, content ->> 'question', content ->> 'a', content ->> 'b', 'A'
    FROM evaluate.score_queue
    WHERE kind = 'pair'
    UNION ALL
    SELECT item_id, content ->> 'question', content ->> 'b', content ->> 'a', 'B'
    FROM evaluate.score_queue
    WHERE kind = 'pair'
)
SELECT DISTINCT
    q.queue_id,
    q.place,
    j.release_id,
    j.model,
    j.item_id,
    j.trial,
    j.turn,
    map_keys(j.scores)[1] AS dimension
FROM queued AS q
JOIN evaluate.shown_answers AS a ON a.answer = q.answer
JOIN release.turns AS t
    ON t.release_id = a.release_id
    AND t.item_id = a.item_id
    AND t.turn = a.turn
    AND t.question = q.question
JOIN release.references AS r
    ON r.release_id = a.release_id
    AND r.item_id = a.item_id
    AND r.turn = a.turn
    AND r.kind = 'answer'
    AND r.reference = q.reference
JOIN evaluate.shown_judgments AS j
    ON j.release_id = a.release_id
    AND j.model = a.model
    AND j.item_id = a.item_id
    AND j.trial = a.trial
    AND j.turn = a.turn
WHERE list_contains($orders, j.part) AND len(map_keys(j.scores)) > 0
ORDER BY ALL;
