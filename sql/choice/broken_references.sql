-- Rows of these tables that name a row which is not there: which row of which table, and where it is missing.
SELECT named_in, row_id, missing_in
FROM (
    SELECT 'choice.items' AS named_in, item_id AS row_id, 'ingest.entries' AS missing_in
    FROM choice.items
    ANTI JOIN ingest.entries USING (entry_id)
    UNION ALL
    SELECT 'choice.translations', translation_id, 'choice.items'
    FROM choice.translations
    ANTI JOIN choice.items USING (item_id)
    UNION ALL
    SELECT DISTINCT 'choice.mmiu_items', item_id, 'ingest.images'
    FROM (SELECT item_id, unnest(image_ids) AS image_id FROM choice.mmiu_items)
    ANTI JOIN ingest.images USING (image_id)
    ANTI JOIN choice.mmiu_images USING (image_id)
    UNION ALL
    SELECT 'choice.mmiu_items', changed.item_id, 'choice.mmiu_items'
    FROM choice.mmiu_items AS changed
    ANTI JOIN choice.mmiu_items AS answerable ON answerable.item_id = changed.group_id
)
WHERE list_contains($tables, named_in)
ORDER BY ALL;
