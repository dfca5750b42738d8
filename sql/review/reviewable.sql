-- Everything generation made that people should see before it counts.
SELECT
    dialogue_id AS item_id,
    'dialogue' AS kind,
    set_id,
    image_ids,
    turns,
    NULL AS original,
    NULL AS rewrite
FROM dialogue.dialogues
UNION ALL
SELECT p.rewrite_id, 'rewrite', p.set_id, d.image_ids, NULL, p.original, p.rewrite
FROM rewrite.prompts AS p
JOIN dialogue.dialogues AS d USING (dialogue_id)
ORDER BY kind, item_id;
