-- One row a page: the longest text any of its rows gives for it.
SELECT
    wit_shard,
    page_url,
    any_value(page_title ORDER BY line_number) AS title,
    any_value(language ORDER BY line_number) AS language,
    coalesce(
        arg_max(context_page_description, length(context_page_description)),
        arg_max(context_section_description, length(context_section_description))
    ) AS page_text
FROM ingest.wit_rows
WHERE list_contains($shards, wit_shard)
GROUP BY wit_shard, page_url
HAVING page_text IS NOT NULL
ORDER BY wit_shard, page_url;
