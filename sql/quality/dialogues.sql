-- Every dialogue with its turns and the language of its pages, and what the writer was told of its pictures, in
-- their order.
SELECT d.set_id, d.dialogue_id, d.kind, d.image_ids, d.turns, s.language, s.sources
FROM dialogue.dialogues AS d
JOIN (
    SELECT
        dialogue_id,
        arg_min(e.language, position) AS language,
        list({'title': e.title, 'caption': e.caption, 'page_text': e.page_text} ORDER BY position) AS sources
    FROM dialogue.dialogue_images
    JOIN (
        FROM ingest.entries QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY wit_shard) = 1
    ) AS e USING (entry_id)
    GROUP BY dialogue_id
) AS s USING (dialogue_id)
ORDER BY d.set_id, d.dialogue_id;
