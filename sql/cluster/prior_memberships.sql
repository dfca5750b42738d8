-- Every entry with its two texts and its membership: its own if its texts are the same as when it was
-- clustered, else that of its former version (the same page and image; that entry is gone), else that of a
-- grouped entry with the same two texts. `known`: the membership is the entry's own. `category_changed` and
-- `caption_changed`: it is that of other texts.
WITH texts AS (
    SELECT
        entry_id,
        any_value(text_id) FILTER (space = 'category') AS category_text_id,
        any_value(text_id) FILTER (space = 'caption') AS caption_text_id
    FROM cluster.entry_texts
    GROUP BY entry_id
),
pages AS (
    -- An empty language: the embedding model does not read it.
    SELECT
        entry_id,
        any_value(page_id) AS page_id,
        any_value(image_id) AS image_id,
        CASE WHEN any_value(coalesce(l.is_read, true)) THEN any_value(e.language) ELSE '' END AS language
    FROM ingest.entries AS e
    LEFT JOIN cluster.languages AS l ON l.language = e.language AND l.model = $model
    GROUP BY entry_id
),
gone AS (
    SELECT * FROM cluster.clusters WHERE entry_id NOT IN (SELECT entry_id FROM texts)
),
former AS (
    -- Of several, the one with most of the same texts.
    SELECT
        p.entry_id,
        arg_min(
            g.entry_id,
            (
                g.caption_text_id <> t.caption_text_id,
                g.category_text_id <> t.category_text_id,
                g.entry_id
            )
        ) AS former_id
    FROM pages AS p
    JOIN texts AS t USING (entry_id)
    JOIN gone AS g USING (page_id, image_id)
    GROUP BY p.entry_id
),
twins AS (
    SELECT category_text_id, caption_text_id, language, min(entry_id) AS twin_id
    FROM cluster.clusters
    JOIN pages USING (entry_id)
    WHERE group_id IS NOT NULL
    GROUP BY category_text_id, caption_text_id, language
)
SELECT
    t.entry_id,
    t.category_text_id,
    t.caption_text_id,
    p.page_id,
    p.image_id,
    p.language,
    own.entry_id IS NOT NULL AS known,
    coalesce(c.category_text_id <> t.category_text_id, false) AS category_changed,
    coalesce(c.caption_text_id <> t.caption_text_id, false) AS caption_changed,
    c.group_id,
    c.group_how,
    c.cluster_id,
    c.cluster_how
FROM texts AS t
JOIN pages AS p USING (entry_id)
LEFT JOIN cluster.clusters AS own USING (entry_id, category_text_id, caption_text_id)
LEFT JOIN former USING (entry_id)
LEFT JOIN twins USING (category_text_id, caption_text_id, language)
LEFT JOIN cluster.clusters AS c ON c.entry_id = coalesce(own.entry_id, former.former_id, twins.twin_id)
ORDER BY t.entry_id;
