-- A page of items in the order of the queue, each with the people who have it locked, and how many match
-- the filters, of which no more than `counted` are looked for. An empty page is one row without an item.
WITH matching AS MATERIALIZED (
    SELECT s.item_id, s.place
    FROM standings AS s
    WHERE
        (:kind IS NULL OR s.kind = :kind)
        AND (:status IS NULL OR s.status = :status)
        AND (:reviewer IS NULL OR s.item_id IN (
            SELECT item_id FROM events WHERE reviewer = :reviewer
            UNION ALL
            SELECT item_id FROM locks WHERE annotator = :reviewer AND expires_at > :now
        ))
        AND (:text IS NULL OR EXISTS (
            SELECT 1 FROM item_texts AS t
            WHERE
                t.item_id = s.item_id
                AND NOT EXISTS (
                    SELECT value FROM json_each(:text) WHERE instr(t.text, value) = 0
                )
        ))
    ORDER BY s.place
    LIMIT :counted
)
SELECT
    n.n_items, s.item_id, s.kind, i.set_id, s.status, s.people AS people_needed, i.title,
    (
        SELECT json_group_array(l.annotator) FROM locks AS l
        WHERE l.item_id = s.item_id AND l.expires_at > :now
    ) AS locked_by
FROM (SELECT count(*) AS n_items FROM matching) AS n
LEFT JOIN (SELECT item_id FROM matching ORDER BY place LIMIT :limit OFFSET :offset) AS p ON 1 = 1
LEFT JOIN standings AS s ON s.item_id = p.item_id
LEFT JOIN items AS i ON i.item_id = p.item_id
ORDER BY s.place
