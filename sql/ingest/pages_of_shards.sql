-- One row for each page in one of the languages: the longest text of its rows, and their other texts
-- (`said`).
SELECT
    wit_shard,
    page_url,
    any_value(page_title ORDER BY line_number) AS title,
    any_value(language ORDER BY line_number) AS language,
    coalesce(
        arg_max(
            context_page_description,
            (length(context_page_description), context_page_description)
        ),
        arg_max(
            context_section_description,
            (length(context_section_description), context_section_description)
        )
    ) AS page_text,
    list(DISTINCT concat_ws(
        chr(10),
        section_title,
        caption_reference_description,
        caption_alt_text_description,
        caption_attribution_description
    )) AS said
FROM ingest.wit_rows
WHERE
    list_contains($shards, wit_shard)
    AND (len($languages) = 0 OR list_contains($languages, language))
GROUP BY wit_shard, page_url
ORDER BY wit_shard, page_url;
