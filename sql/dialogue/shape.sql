-- Dialogues, and how many of their questions are on several images, on some of a larger set, and go on from earlier ones.
SELECT
    d.kind,
    d.image_ids,
    d.turns,
    count(*) FILTER (len(q.positions) > 1) AS n_several,
    count(*) FILTER (len(q.positions) > 1 AND len(q.positions) < d.n_images) AS n_some,
    count(q.follows) AS n_following
FROM (SELECT dialogue_id, kind, image_ids, n_images, turns, unnest(turns).question_id AS question_id FROM dialogue.dialogues) AS d
JOIN dialogue.questions AS q USING (question_id)
GROUP BY ALL
ORDER BY d.kind, min(d.dialogue_id);
