-- The image URLs of all shards whose paths end in the same text as that of another URL, with the shards that
-- have each and columns of one row.
WITH urls AS (
    SELECT
        image_url,
        array_agg(DISTINCT wit_shard ORDER BY wit_shard) AS shards,
        any_value(mime_type ORDER BY wit_shard, line_number) AS mime_type,
        any_value(original_width ORDER BY wit_shard, line_number) AS original_width
    FROM ingest.wit_rows
    GROUP BY image_url
),

-- Not among the aggregates: DuckDB 1.5 cannot bind try() of a column of GROUP BY.
named AS (
    SELECT *, try(url_decode(regexp_extract(image_url, '^[^?#]*/([^/?#]*)', 1))) AS name
    FROM urls
)

SELECT image_url, shards, mime_type, original_width
FROM named
QUALIFY count(*) OVER (PARTITION BY name) > 1
ORDER BY image_url;
