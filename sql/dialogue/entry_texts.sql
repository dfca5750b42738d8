-- What a writer is told of these entries: the caption, and the summary of the page or else its beginning.
SELECT e.entry_id, e.caption, coalesce(m.summary, left(e.page_text, 2000), '') AS notes
FROM (
    FROM ingest.entries
    WHERE entry_id IN (SELECT unnest($entry_ids::VARCHAR[]))
    QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY wit_shard) = 1
) AS e
LEFT JOIN (
    FROM dialogue.summaries QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY set_id) = 1
) AS m USING (entry_id)
ORDER BY e.entry_id;
