-- Entries, each once, with the texts that keywords are looked for in.
SELECT entry_id, image_id, title, caption, categories
FROM ingest.entries
QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY wit_shard) = 1
ORDER BY entry_id;
