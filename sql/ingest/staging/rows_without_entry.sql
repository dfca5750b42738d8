-- Rows on accepted pages that are no source of an entry: their image was rejected, or a row before them in
-- the order of `ingest/entry_sources_of_shards` has the same image on the same page.
WITH sources AS (
    SELECT
        r.wit_shard,
        r.line_number,
        r.image_url,
        i.image_id,
        first_value(r.line_number) OVER (
            PARTITION BY r.wit_shard, p.page_id, i.image_id
            ORDER BY
                NOT regexp_matches(
                    concat_ws(
                        '',
                        r.caption_reference_description,
                        r.caption_alt_text_description,
                        regexp_replace(trim(r.caption_attribution_description), '^English:', '')
                    ),
                    $seen
                ),
                r.line_number
        ) AS first_line
    FROM ingest.wit_rows AS r
    JOIN ingest.pages AS p USING (wit_shard, page_url)
    LEFT JOIN ingest.images AS i USING (wit_shard, image_url)
    WHERE list_contains($shards, r.wit_shard)
)
SELECT
    s.wit_shard,
    'entries' AS step,
    'line ' || s.line_number AS reference,
    CASE WHEN s.image_id IS NULL THEN 'without_image' ELSE 'duplicate' END AS reason,
    CASE
        WHEN s.image_id IS NOT NULL
            THEN 'Line ' || s.first_line || ' has the same image on the same page.'
        ELSE coalesce(x.reason || ': ' || x.detail, 'Its image was not ingested.')
    END AS detail,
    1::BIGINT AS n_rows
FROM sources AS s
LEFT JOIN ingest.rejected AS x
    ON x.wit_shard = s.wit_shard AND x.kind = 'image' AND x.reference = s.image_url
WHERE s.image_id IS NULL OR s.first_line <> s.line_number
ORDER BY s.wit_shard, s.line_number;
