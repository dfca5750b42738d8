-- The page, the attribution and the licence behind each picture of MMIU's items: of one that was made of
-- others, those of all of them (the licence is known if all of theirs are), and what was changed.
WITH entries AS (
    FROM ingest.entries
    QUALIFY row_number() OVER (PARTITION BY image_id ORDER BY licence IS NULL, wit_shard, entry_id) = 1
),
shown AS (SELECT DISTINCT unnest(image_ids) AS image_id FROM choice.mmiu_items),
made AS (
    SELECT
        m.image_id,
        min(e.page_url) AS page_url,
        string_agg(DISTINCT e.title, '; ' ORDER BY e.title) AS title,
        string_agg(DISTINCT e.attribution, '; ' ORDER BY e.attribution) AS attribution,
        CASE
            WHEN bool_and(e.licence IS NOT NULL)
                THEN string_agg(DISTINCT e.bracketed, ' AND ' ORDER BY e.bracketed)
        END AS licence,
        string_agg(DISTINCT e.licence_url, ' ' ORDER BY e.licence_url) AS licence_url,
        string_agg(DISTINCT e.artist, '; ' ORDER BY e.artist) AS artist
    FROM (SELECT image_id, unnest(made_from) AS of FROM choice.mmiu_images) AS m
    JOIN (
        SELECT *, CASE WHEN contains(licence, ' OR ') THEN '(' || licence || ')' ELSE licence END AS bracketed
        FROM entries
    ) AS e ON e.image_id = m.of
    GROUP BY m.image_id
)
SELECT
    s.image_id,
    coalesce(m.page_url, e.page_url) AS page_url,
    coalesce(m.title, e.title) AS title,
    CASE
        WHEN m.image_id IS NOT NULL
            THEN concat_ws(' ', m.attribution, '(changed: ' || d.change || ')')
        ELSE coalesce(d.source, e.attribution)
    END AS attribution,
    coalesce(m.licence, e.licence) AS licence,
    coalesce(m.licence_url, e.licence_url) AS licence_url,
    coalesce(m.artist, e.artist) AS artist
FROM shown AS s
LEFT JOIN choice.mmiu_images AS d USING (image_id)
LEFT JOIN made AS m USING (image_id)
LEFT JOIN entries AS e ON e.image_id = s.image_id AND d.source IS NULL
ORDER BY s.image_id;
