-- Every entry with its two texts and its membership: its own if its texts are the same as when it was
-- clustered, else that of a grouped entry with the same two texts (an edited page gives a new entry).
-- `known`: the membership is the entry's own.
WITH texts AS (
    SELECT
        entry_id,
        any_value(text_id) FILTER (space = 'category') AS category_text_id,
        any_value(text_id) FILTER (space = 'caption') AS caption_text_id
    FROM cluster.entry_texts
    GROUP BY entry_id
),
twins AS (
    SELECT category_text_id, caption_text_id, min(entry_id) AS twin_id
    FROM cluster.clusters
    WHERE group_id IS NOT NULL
    GROUP BY category_text_id, caption_text_id
)
SELECT
    t.entry_id,
    t.category_text_id,
    t.caption_text_id,
    own.entry_id IS NOT NULL AS known,
    c.group_id,
    c.group_how,
    c.cluster_id,
    c.cluster_how
FROM texts AS t
LEFT JOIN cluster.clusters AS own USING (entry_id, category_text_id, caption_text_id)
LEFT JOIN twins USING (category_text_id, caption_text_id)
LEFT JOIN cluster.clusters AS c ON c.entry_id = coalesce(own.entry_id, twins.twin_id)
ORDER BY t.entry_id;
