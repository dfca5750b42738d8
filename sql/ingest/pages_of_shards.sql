-- One row for each page in one of the languages, or in any if there are none: the longest text of its rows,
-- their other texts (`said`), how many they are, and the characters of their texts of the page. A text without
-- a character that is seen ($seen) is none. A page is in the language of its first row.
WITH taken AS (
    SELECT wit_shard, page_url, lower(arg_min(language, line_number)) AS of_page
    FROM ingest.wit_rows
    WHERE list_contains($shards, wit_shard)
    GROUP BY wit_shard, page_url
    HAVING len($languages) = 0 OR list_contains($languages, of_page)
)
SELECT
    wit_shard,
    page_url,
    any_value(r.page_title ORDER BY r.line_number) AS title,
    any_value(t.of_page) AS language,
    coalesce(
        arg_max(
            r.context_page_description,
            (length(r.context_page_description), r.context_page_description)
        ) FILTER (regexp_matches(r.context_page_description, $seen)),
        arg_max(
            r.context_section_description,
            (length(r.context_section_description), r.context_section_description)
        ) FILTER (regexp_matches(r.context_section_description, $seen))
    ) AS page_text,
    list(DISTINCT concat_ws(
        chr(10),
        r.section_title,
        r.caption_reference_description,
        r.caption_alt_text_description,
        r.caption_attribution_description
    )) AS said,
    count(*) AS n_rows,
    sum(length(concat(r.context_page_description, r.context_section_description)))::BIGINT AS n_characters
FROM ingest.wit_rows AS r
JOIN taken AS t USING (wit_shard, page_url)
GROUP BY wit_shard, page_url
ORDER BY wit_shard, page_url;
