-- The image URLs of some shards, each once a shard, with what the rows say of them.
SELECT
    wit_shard,
    image_url,
    any_value(mime_type ORDER BY line_number) AS mime_type,
    any_value(caption_attribution_description ORDER BY line_number) AS attribution
FROM ingest.wit_rows
WHERE list_contains($shards, wit_shard)
GROUP BY wit_shard, image_url
ORDER BY wit_shard, image_url;
