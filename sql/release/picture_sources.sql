-- The page, the attribution and the licence behind each picture of what is about single pictures: AlignMMBench's
-- seeds and dialogues, ConvBench's conversations.
SELECT image_id, page_url, title, attribution, licence, licence_url, artist
FROM ingest.entries
WHERE image_id IN (
    SELECT image_id FROM rewrite.seeds
    UNION
    SELECT image_id FROM rewrite.contexts
    UNION
    SELECT image_id FROM dialogue.three_turns
)
QUALIFY row_number() OVER (PARTITION BY image_id ORDER BY licence IS NULL, wit_shard, entry_id) = 1
ORDER BY image_id;
