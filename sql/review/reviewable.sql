-- Every generated dialogue, conversation of three turns, question with its reference and its task, rewrite,
-- multiple-choice item and translation of one, with the pages and captions of its images, in the order of the images, and what else helps to decide.
WITH entries AS (
    FROM ingest.entries
    QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY licence IS NULL, wit_shard) = 1
),
seen AS (
    SELECT
        s.dialogue_id,
        list(e.page_url ORDER BY s.position) AS page_urls,
        list(e.caption ORDER BY s.position) AS captions
    FROM dialogue.dialogue_images AS s
    JOIN entries AS e USING (entry_id)
    GROUP BY s.dialogue_id
),
made AS (
    SELECT
        dialogue_id,
        dialogue_id AS item_id,
        'dialogue' AS kind,
        set_id,
        image_ids,
        turns,
        NULL AS original,
        NULL AS rewrite
    FROM dialogue.dialogues
    UNION ALL
    SELECT p.dialogue_id, p.rewrite_id, 'rewrite', p.set_id, d.image_ids, NULL, p.original, p.rewrite
    FROM rewrite.rewrites AS p
    JOIN dialogue.dialogues AS d USING (dialogue_id)
),
mmiu AS (
    -- Of a picture that was changed, what was done to it, and the page of the first that it is made of.
    SELECT i.*, c.page_urls, c.captions
    FROM choice.mmiu_items AS i
    JOIN (
        SELECT
            s.item_id,
            list(coalesce(e.page_url, '') ORDER BY s.position) AS page_urls,
            list(coalesce(m.change, m.source, e.caption, '') ORDER BY s.position) AS captions
        FROM (
            SELECT item_id, unnest(image_ids) AS image_id, generate_subscripts(image_ids, 1) AS position
            FROM choice.mmiu_items
        ) AS s
        LEFT JOIN choice.mmiu_images AS m USING (image_id)
        LEFT JOIN (
            FROM entries QUALIFY row_number() OVER (PARTITION BY image_id ORDER BY entry_id) = 1
        ) AS e ON e.image_id = coalesce(m.made_from[1], s.image_id)
        GROUP BY s.item_id
    ) AS c USING (item_id)
),
categorized AS (
    -- The task category of each turn of a conversation, and what people need to know to put it right.
    SELECT
        u.item_id,
        list(coalesce(c.category, u.task) ORDER BY u.turn) AS categories,
        list(
            'ConvBench, ' || u.capability || ': ' || coalesce(c.category, u.task)
            || CASE
                WHEN c.category <> c.name THEN printf(', written as %s (%.2f)', c.name, c.similarity)
                ELSE ''
            END
            || coalesce(printf('; most like it is %s (%.2f)', c.nearest, c.nearest_similarity), '')
            ORDER BY u.turn
        ) AS why
    FROM (
        SELECT
            item_id,
            unnest(turns).task AS task,
            generate_subscripts(turns, 1) AS turn,
            unnest(['perception', 'reasoning', 'creation']) AS capability
        FROM dialogue.three_turns
    ) AS u
    LEFT JOIN dialogue.turn_categories AS c ON c.capability = u.capability AND c.name = u.task
    GROUP BY u.item_id
)
SELECT m.* EXCLUDE (dialogue_id), s.page_urls, s.captions
FROM made AS m
LEFT JOIN seen AS s USING (dialogue_id)
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
UNION ALL BY NAME
SELECT
    i.item_id,
    'multiple_choice' AS kind,
    i.set_id,
    i.image_ids,
    i.question,
    nullif(i.context, '') AS hint,
    i.choices,
    i.answer,
    i.task AS category,
    i.page_urls,
    i.captions
FROM mmiu AS i
UNION ALL BY NAME
SELECT
    s.seed_id AS item_id,
    'reference' AS kind,
    s.set_id,
    [s.image_id] AS image_ids,
    s.question,
    s.reference,
    ['AlignMMBench, ' || s.task] AS why,
    [e.page_url] AS page_urls,
    [e.caption] AS captions
FROM rewrite.seeds AS s
JOIN entries AS e USING (entry_id)
UNION ALL BY NAME
SELECT
    s.seed_id || '-task' AS item_id,
    'category' AS kind,
    s.set_id,
    [s.image_id] AS image_ids,
    s.question AS text,
    s.task AS category,
    ['AlignMMBench, the task of this question'] AS why,
    [e.page_url] AS page_urls,
    [e.caption] AS captions
FROM rewrite.seeds AS s
JOIN entries AS e USING (entry_id)
UNION ALL BY NAME
SELECT
    r.rewrite_id AS item_id,
    'rewrite' AS kind,
    r.set_id,
    [s.image_id] AS image_ids,
    r.original,
    r.rewrite,
    ['AlignMMBench, ' || s.task] AS why,
    [e.page_url] AS page_urls,
    [e.caption] AS captions
FROM rewrite.seed_rewrites AS r
JOIN rewrite.seeds AS s USING (seed_id)
JOIN entries AS e USING (entry_id)
UNION ALL BY NAME
SELECT
    d.dialogue_id AS item_id,
    'dialogue' AS kind,
    d.set_id,
    [d.image_id] AS image_ids,
    -- Dialogues of sets have ids of their questions.
    list_transform(d.turns, lambda t, i: {
        'question_id': d.dialogue_id || '-' || i, 'question': t.question, 'answer': t.answer
    }) AS turns,
    list_filter(
        ['AlignMMBench, ' || d.task, 'planted error: ' || d.error], lambda reason: reason IS NOT NULL
    ) AS why,
    [e.page_url] AS page_urls,
    [e.caption] AS captions
FROM rewrite.contexts AS d
JOIN entries AS e USING (entry_id)
UNION ALL BY NAME
SELECT
    t.item_id,
    'three_turns' AS kind,
    t.set_id,
    [t.image_id] AS image_ids,
    r.caption,
    {'question': q[1], 'category': c.categories[1], 'reference': r.answers[1]} AS perception,
    {'question': q[2], 'category': c.categories[2], 'reference': r.answers[2]} AS reasoning,
    {
        'question': q[3], 'category': c.categories[3], 'reference': r.answers[3],
        'focus': array_to_string(t.focus, chr(10))
    } AS creation,
    c.why,
    [e.page_url] AS page_urls,
    [e.caption] AS captions
FROM (SELECT *, list_transform(turns, lambda turn: turn.question) AS q FROM dialogue.three_turns) AS t
JOIN (
    SELECT
        item_id,
        any_value(reference) FILTER (kind = 'caption') AS caption,
        list(reference ORDER BY turn) FILTER (kind = 'answer') AS answers
    FROM dialogue.turn_references
    GROUP BY item_id
) AS r USING (item_id)
JOIN categorized AS c USING (item_id)
JOIN entries AS e USING (entry_id)
ORDER BY kind, item_id;
