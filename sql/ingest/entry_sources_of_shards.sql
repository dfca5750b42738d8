-- A page with one of its images, if both were accepted. Of several rows the first with a caption counts: with
-- a character that is seen ($seen) and not only a credit ($credit), as `methods/ingest/wit.py` reads captions.
SELECT
    r.* EXCLUDE (language),
    p.language,
    p.page_id,
    p.title,
    p.categories,
    p.page_text,
    p.topics,
    i.image_id,
    i.attribution,
    i.licence,
    i.licence_url,
    i.artist,
    i.licence_source
FROM ingest.wit_rows AS r
JOIN ingest.pages AS p USING (wit_shard, page_url)
JOIN ingest.images AS i USING (wit_shard, image_url)
WHERE list_contains($shards, r.wit_shard)
QUALIFY row_number() OVER (
    PARTITION BY r.wit_shard, p.page_id, i.image_id
    ORDER BY
        NOT regexp_matches(
            concat_ws(
                '',
                regexp_replace(trim(r.caption_reference_description), $credit, ''),
                regexp_replace(trim(r.caption_alt_text_description), $credit, ''),
                regexp_replace(
                    trim(regexp_replace(trim(r.caption_attribution_description), '^English:', '')), $credit, ''
                )
            ),
            $seen
        ),
        r.line_number
) = 1
ORDER BY r.wit_shard, r.line_number;
