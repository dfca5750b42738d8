-- Dialogues, and how many of their questions are on several images.
SELECT
    d.kind,
    d.image_ids,
    d.turns,
    count(*) FILTER (q.scope = 'multi') AS n_several
FROM (SELECT dialogue_id, kind, image_ids, turns, unnest(turns).question_id AS question_id FROM dialogue.dialogues) AS d
JOIN dialogue.questions AS q USING (question_id)
GROUP BY ALL
ORDER BY d.kind, min(d.dialogue_id);
