-- The ids of each entry's two texts.
SELECT
    entry_id,
    any_value(text_id) FILTER (space = 'category') AS category,
    any_value(text_id) FILTER (space = 'caption') AS caption
FROM cluster.entry_texts
GROUP BY entry_id
ORDER BY entry_id;
