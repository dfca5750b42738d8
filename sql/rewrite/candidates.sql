-- Candidates, with what their writer is told: the caption, and the summary where there is one.
SELECT c.task, c.entry_id, c.image_id, c.keywords, e.caption, coalesce(m.summary, '') AS notes
FROM rewrite.candidates AS c
JOIN (
    FROM ingest.entries QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY wit_shard) = 1
) AS e USING (entry_id)
LEFT JOIN (
    FROM dialogue.summaries QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY set_id) = 1
) AS m USING (entry_id)
ORDER BY c.task, c.entry_id;
