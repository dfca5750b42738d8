-- The images of every set with their entries, and their summaries where there are any.
SELECT
    s.set_id,
    s.kind,
    s.position,
    s.entry_id,
    s.image_id,
    e.title,
    e.language,
    e.categories,
    e.caption,
    e.page_text,
    m.summary
FROM cluster.image_sets AS s
JOIN (
    SELECT DISTINCT entry_id, title, language, categories, caption, page_text FROM ingest.entries
) AS e USING (entry_id)
LEFT JOIN dialogue.summaries AS m USING (set_id, entry_id)
ORDER BY s.set_id, s.position;
