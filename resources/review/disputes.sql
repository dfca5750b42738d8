-- Items that people disagree on: annotators of round 1 (an expert decides), or an expert and annotators
-- (annotators rework the item). Each once for the last decision of every person on what is to be decided now.
WITH waiting AS (
    SELECT s.item_id, s.kind, s.status, s.content_hash, s.place
    FROM standings AS s
    WHERE s.status IN ('round_2', 'to_rework')
),
votes AS (
    SELECT item_id, reviewer, verdict, outcome, event_id
    FROM (
        SELECT
            w.item_id,
            e.reviewer,
            e.verdict,
            e.verdict || coalesce(e.edits, '') AS outcome,
            e.event_id,
            row_number() OVER (PARTITION BY w.item_id, e.reviewer ORDER BY e.event_id DESC) AS nth
        FROM waiting AS w
        JOIN in_force AS e ON e.item_id = w.item_id AND e.content_hash = w.content_hash
        WHERE w.status = 'round_2' AND e.round = 1 AND e.verdict <> 'skip'
    ) AS made
    WHERE nth = 1
),
disputed AS (
    SELECT item_id FROM votes GROUP BY item_id HAVING count(DISTINCT outcome) > 1
    UNION ALL
    SELECT item_id FROM waiting WHERE status = 'to_rework'
),
shown AS (
    SELECT w.item_id, w.kind, w.status, i.title, w.place, count(*) OVER () AS n_disputed
    FROM disputed AS d
    JOIN waiting AS w USING (item_id)
    JOIN items AS i USING (item_id)
    ORDER BY w.place
    LIMIT :limit
)
SELECT s.item_id, s.kind, s.status, s.title, s.n_disputed, v.reviewer, v.verdict
FROM shown AS s
LEFT JOIN votes AS v USING (item_id)
ORDER BY s.place, v.event_id
