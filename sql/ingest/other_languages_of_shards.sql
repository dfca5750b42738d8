-- Pages and rows of some shards in languages that are not taken, by language.
SELECT wit_shard, language, count(*) AS n_pages, sum(n_rows)::BIGINT AS n_rows
FROM (
    SELECT wit_shard, lower(arg_min(language, line_number)) AS language, count(*) AS n_rows
    FROM ingest.wit_rows
    WHERE list_contains($shards, wit_shard)
    GROUP BY wit_shard, page_url
)
WHERE len($languages) > 0 AND NOT list_contains($languages, language)
GROUP BY wit_shard, language
ORDER BY wit_shard, language;
