-- Every generated dialogue, rewrite, multiple-choice item and translation of one, with the pages and captions
-- of its images, in the order of the images.
WITH entries AS (
    FROM ingest.entries
    QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY licence IS NULL, wit_shard) = 1
),
seen AS (
    SELECT
        s.set_id,
        list(e.page_url ORDER BY s.position) AS page_urls,
        list(e.caption ORDER BY s.position) AS captions
    FROM cluster.image_sets AS s
    JOIN entries AS e USING (entry_id)
    GROUP BY s.set_id
),
made AS (
    SELECT
        dialogue_id AS item_id,
        'dialogue' AS kind,
        set_id,
        image_ids,
        turns,
        NULL AS original,
        NULL AS rewrite
    FROM dialogue.dialogues
    UNION ALL
    SELECT p.rewrite_id, 'rewrite', p.set_id, d.image_ids, NULL, p.original, p.rewrite
    FROM rewrite.rewrites AS p
    JOIN dialogue.dialogues AS d USING (dialogue_id)
)
SELECT m.*, s.page_urls, s.captions
FROM made AS m
LEFT JOIN seen AS s USING (set_id)
UNION ALL BY NAME
SELECT
    i.item_id,
    'multiple_choice' AS kind,
    i.set_id,
    [i.image_id] AS image_ids,
    i.question,
    i.hint,
    i.choices,
    i.answer,
    i.ability AS category,
    [e.page_url] AS page_urls,
    [e.caption] AS captions
FROM choice.items AS i
JOIN entries AS e USING (entry_id)
UNION ALL BY NAME
SELECT
    t.translation_id AS item_id,
    'translation' AS kind,
    t.set_id,
    [i.image_id] AS image_ids,
    i.question,
    i.hint,
    i.choices,
    t.language AS target_language,
    {'question': t.question, 'hint': t.hint, 'choices': t.choices} AS target,
    [e.page_url] AS page_urls,
    [e.caption] AS captions
FROM choice.translations AS t
JOIN choice.items AS i USING (item_id)
JOIN entries AS e USING (entry_id)
ORDER BY kind, item_id;
