-- Pages in the file at `$path`, which will replace rows of `ingest.pages`, with another text than there.
SELECT
    $run_id AS run_id,
    n.wit_shard,
    n.page_id,
    n.page_url,
    n.title,
    now()::TIMESTAMP AS changed_at,
    b.page_text AS text_before,
    n.page_text AS text_after
FROM read_parquet($path) AS n
JOIN ingest.pages AS b ON b.wit_shard = n.wit_shard AND b.page_id = n.page_id
WHERE list_contains($shards, b.wit_shard) AND b.page_text <> n.page_text
ORDER BY n.wit_shard, n.page_id;
