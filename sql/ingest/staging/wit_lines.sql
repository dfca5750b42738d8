-- The fast path for lines of a WIT shard that are plainly rows. `suspect` has every other line, which
-- methods/ingest/wit_records.py decides on; it accepts every line that is accepted here, with the same values.
-- `lines` has number, text (with its line feed; NULL if the bytes are not UTF-8) and bytes (only then).
WITH pieces AS (
    SELECT number, text, bytes, string_split(text, chr(9)) AS piece FROM lines
),
named AS (
    SELECT
        number,
        text,
        bytes,
        len(piece) = 17
        AND strlen(text) <= $max_bytes
        -- Tabs inside quotes, and quotes at the beginning of a field that do not end it, make a line suspect.
        AND CASE
            WHEN contains(text, '"') THEN regexp_full_match(text, $plain_quotes) ELSE true
        END AS whole,
        title_of(piece[1], $edges) AS language,
        value_of(piece[2]) AS page_url,
        value_of(piece[3]) AS image_url,
        title_of(piece[4], $edges) AS page_title,
        title_of(piece[5], $edges) AS section_title,
        title_of(piece[6], $edges) AS hierarchical_section_title,
        value_of(piece[7]) AS caption_reference_description,
        value_of(piece[8]) AS caption_attribution_description,
        value_of(piece[9]) AS caption_alt_text_description,
        value_of(piece[10]) AS mime_type,
        value_of(piece[11]) AS original_height,
        value_of(piece[12]) AS original_width,
        value_of(piece[13]) AS is_main_image,
        value_of(piece[14]) AS attribution_passes_lang_id,
        value_of(piece[15]) AS page_changed_recently,
        value_of(piece[16]) AS context_page_description,
        value_of(without_end(piece[17])) AS context_section_description
    FROM pieces
)
SELECT
    $shard AS wit_shard,
    number AS line_number,
    * EXCLUDE (number, text, bytes, whole) REPLACE (
        try_cast(original_height AS BIGINT) AS original_height,
        try_cast(original_width AS BIGINT) AS original_width,
        lower(is_main_image) = 'true' AS is_main_image,
        lower(attribution_passes_lang_id) = 'true' AS attribution_passes_lang_id,
        lower(page_changed_recently) = 'true' AS page_changed_recently
    ),
    CASE WHEN (
        whole
        AND language IS NOT NULL
        AND page_title IS NOT NULL
        AND plain_address(page_url)
        AND plain_address(image_url)
        AND plain_number(original_height)
        AND plain_number(original_width)
        AND plain_boolean(is_main_image)
        AND plain_boolean(attribution_passes_lang_id)
        AND plain_boolean(page_changed_recently)
    ) IS TRUE THEN NULL ELSE coalesce(bytes, encode(text)) END AS suspect
FROM named
