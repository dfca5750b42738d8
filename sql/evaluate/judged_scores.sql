-- Scores by judges of the answers in the score queue: same question, reference and answer. Equal answers
-- share one judge call; where they do not, the mean counts.
SELECT q.item_id, j.judge, s.dimension, avg(s.score) AS score
FROM evaluate.score_queue AS q
JOIN evaluate.answers AS a ON a.answer = q.content ->> 'answer'
JOIN evaluate.judgments AS j
    ON j.release_id = a.release_id
    AND j.model = a.model
    AND j.item_id = a.item_id
    AND j.trial = a.trial
    AND j.turn = a.turn
    AND j.answer_call_key IS NOT DISTINCT FROM a.call_key
JOIN release.turns AS t
    ON t.release_id = a.release_id
    AND t.item_id = a.item_id
    AND t.turn = a.turn
    AND t.question = q.content ->> 'question'
JOIN release.references AS r
    ON r.release_id = a.release_id
    AND r.item_id = a.item_id
    AND r.turn = a.turn
    AND r.kind = 'answer'
    AND r.reference = q.content ->> 'reference'
CROSS JOIN LATERAL (
    SELECT unnest(map_keys(j.scores)) AS dimension, unnest(map_values(j.scores)) AS score
) AS s
GROUP BY ALL
ORDER BY ALL;
