-- The first question of every dialogue, and the language of its set.
SELECT d.set_id, d.dialogue_id, d.image_ids, d.turns[1].question AS question, e.language
FROM dialogue.dialogues AS d
JOIN cluster.image_sets AS s ON s.set_id = d.set_id AND s.position = 1
JOIN (SELECT DISTINCT entry_id, language FROM ingest.entries) AS e USING (entry_id)
ORDER BY d.dialogue_id;
