-- The image URLs on the accepted pages of some shards, each once per shard, with columns of its first row.
SELECT
    r.wit_shard,
    r.image_url,
    any_value(r.page_url ORDER BY r.line_number) AS page_url,
    any_value(r.language ORDER BY r.line_number) AS language,
    any_value(r.mime_type ORDER BY r.line_number) AS mime_type,
    any_value(r.original_width ORDER BY r.line_number) AS original_width,
    any_value(r.caption_attribution_description ORDER BY r.line_number) AS attribution
FROM ingest.wit_rows AS r
JOIN ingest.pages AS p ON p.wit_shard = r.wit_shard AND p.page_url = r.page_url
WHERE list_contains($shards, r.wit_shard)
GROUP BY r.wit_shard, r.image_url
ORDER BY r.wit_shard, r.image_url;
