-- The first question of every dialogue.
SELECT set_id, dialogue_id, image_ids, turns[1].question AS question
FROM dialogue.dialogues
ORDER BY dialogue_id;
