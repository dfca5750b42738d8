-- The two embedded texts of each entry, once for all its shards: its categories and its caption. If a
-- page has no categories, its title is used.
CREATE OR REPLACE VIEW cluster.entry_texts AS
SELECT entry_id, space, text, sha256(text) AS text_id
FROM (
    SELECT
        entry_id,
        unnest(['category', 'caption']) AS space,
        unnest([coalesce(nullif(array_to_string(categories, '; '), ''), title), caption]) AS text
    FROM (
        SELECT entry_id, categories, title, caption
        FROM ingest.entries
        QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY wit_shard) = 1
    )
);

-- The split of each entry: that of its image on its page.
CREATE OR REPLACE VIEW cluster.entry_splits AS
SELECT DISTINCT e.entry_id, s.split, s.reason
FROM ingest.entries AS e
JOIN cluster.splits AS s USING (page_id, image_id);
