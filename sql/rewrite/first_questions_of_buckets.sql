-- The first question of every dialogue in some buckets.
SELECT bucket, set_id, dialogue_id, image_ids, turns[1].question AS question
FROM dialogue.dialogues
WHERE list_contains($buckets, bucket)
ORDER BY dialogue_id;
