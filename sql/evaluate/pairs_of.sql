-- Comparisons on one release of answers that have not been replaced, with the cluster that each item is drawn in.
-- A reference that was compared is no row of evaluate.shown_answers.
SELECT p.* REPLACE (map_entries(p.style) AS style), coalesce(i.group_id, i.item_id) AS cluster
FROM evaluate.shown_pairs AS p
JOIN release.items AS i USING (release_id, item_id)
LEFT JOIN evaluate.shown_answers AS a
    ON a.release_id = p.release_id AND a.model = p.model_a AND a.item_id = p.item_id
    AND a.trial = 'plain' AND a.turn = p.turn
LEFT JOIN evaluate.shown_answers AS b
    ON b.release_id = p.release_id AND b.model = p.model_b AND b.item_id = p.item_id
    AND b.trial = 'plain' AND b.turn = p.turn
WHERE p.release_id = $release_id
    AND a.call_key IS NOT DISTINCT FROM p.answer_a_call_key
    AND b.call_key IS NOT DISTINCT FROM p.answer_b_call_key
ORDER BY p.judge, p.judge_version, i.ordinal, p.turn, p.model_a, p.model_b;
