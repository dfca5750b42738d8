-- The page, the attribution and the licence behind each image of each set, and of each dialogue under its set.
SELECT DISTINCT
    s.set_id,
    s.image_id,
    e.title,
    e.page_url,
    e.attribution,
    e.licence,
    e.licence_url,
    e.artist
FROM (
    SELECT set_id, image_id, entry_id FROM cluster.image_sets
    UNION
    -- A stack stands under the set of its first dialogue, and has images of others.
    SELECT d.set_id, i.image_id, i.entry_id
    FROM dialogue.dialogues AS d
    JOIN dialogue.dialogue_images AS i USING (dialogue_id)
) AS s
JOIN (
    FROM ingest.entries
    QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY licence IS NULL, wit_shard) = 1
) AS e USING (entry_id);
