-- Every entry once, whichever shards it stands in.
SELECT entry_id, page_id, title, categories, caption, page_text, page_url, image_id, attribution
FROM ingest.entries
QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY wit_shard) = 1
ORDER BY entry_id;
