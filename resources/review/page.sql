-- A page of items, in the order they were offered, each with those who work on it, and how many pass
-- the filters: one row without an item where the page has none.
WITH passing AS MATERIALIZED (
    SELECT s.item_id, s.place
    FROM standings AS s
    WHERE
        (:kind IS NULL OR s.kind = :kind)
        AND (:status IS NULL OR s.status = :status)
        AND (:bucket IS NULL OR s.bucket = :bucket)
        AND (:annotator IS NULL OR s.item_id IN (
            SELECT item_id FROM events WHERE reviewer = :annotator
            UNION ALL
            SELECT item_id FROM locks WHERE annotator = :annotator AND expires_at > :now
        ))
        AND (:text IS NULL OR EXISTS (
            SELECT 1 FROM item_texts AS t WHERE t.item_id = s.item_id AND instr(t.text, :text)
        ))
    ORDER BY s.place
)
SELECT
    n.n_items, s.item_id, s.kind, s.bucket, i.set_id, s.status, s.people, i.title,
    (
        SELECT json_group_array(l.annotator) FROM locks AS l
        WHERE l.item_id = s.item_id AND l.expires_at > :now
    ) AS held_by
FROM (SELECT count(*) AS n_items FROM passing) AS n
LEFT JOIN (SELECT item_id FROM passing ORDER BY place LIMIT :limit OFFSET :offset) AS p
LEFT JOIN standings AS s ON s.item_id = p.item_id
LEFT JOIN items AS i ON i.item_id = p.item_id
ORDER BY s.place
