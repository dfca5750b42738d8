-- Every generated dialogue and rewrite, with the pages and captions of its images, in the order of the
-- images.
WITH seen AS (
    SELECT
        s.set_id,
        list(e.page_url ORDER BY s.position) AS page_urls,
        list(e.caption ORDER BY s.position) AS captions
    FROM cluster.image_sets AS s
    JOIN (
        FROM ingest.entries
        QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY licence IS NULL, wit_shard) = 1
    ) AS e USING (entry_id)
    GROUP BY s.set_id
),
made AS (
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
    FROM rewrite.rewrites AS p
    JOIN dialogue.dialogues AS d USING (dialogue_id)
)
SELECT m.*, s.page_urls, s.captions
FROM made AS m
LEFT JOIN seen AS s USING (set_id)
ORDER BY m.kind, m.item_id;
