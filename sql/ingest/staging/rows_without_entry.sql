-- Rows on accepted pages that are no source of an entry: their image was rejected, or one of the sources in
-- the file at `$path` (`ingest/entry_sources_of_shards`) has the same image on the same page.
SELECT
    r.wit_shard,
    'entries' AS step,
    'line ' || r.line_number AS reference,
    CASE WHEN i.image_id IS NULL THEN 'without_image' ELSE 'duplicate' END AS reason,
    CASE
        WHEN i.image_id IS NOT NULL
            THEN 'Line ' || s.line_number || ' has the same image on the same page.'
        ELSE coalesce(x.reason || ': ' || x.detail, 'Its image was not ingested.')
    END AS detail,
    1::BIGINT AS n_rows
FROM ingest.wit_rows AS r
JOIN ingest.pages AS p USING (wit_shard, page_url)
LEFT JOIN ingest.images AS i USING (wit_shard, image_url)
LEFT JOIN read_parquet($path) AS s
    ON s.wit_shard = r.wit_shard AND s.page_id = p.page_id AND s.image_id = i.image_id
LEFT JOIN ingest.rejected AS x
    ON x.wit_shard = r.wit_shard AND x.kind = 'image' AND x.reference = r.image_url
WHERE list_contains($shards, r.wit_shard) AND (i.image_id IS NULL OR s.line_number <> r.line_number)
ORDER BY r.wit_shard, r.line_number;
