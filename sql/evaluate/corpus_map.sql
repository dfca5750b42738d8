-- The first points of the map, in percent of its sides, and the place of their group by size; NULL in none.
WITH sizes AS (
    SELECT group_id, row_number() OVER (ORDER BY count(*) DESC, group_id) AS place
    FROM cluster.clusters
    WHERE group_id IS NOT NULL
    GROUP BY group_id
),
ends AS (
    SELECT
        min(x) AS left,
        greatest(max(x) - min(x), 1e-9) AS width,
        max(y) AS top,
        greatest(max(y) - min(y), 1e-9) AS height
    FROM cluster.map
)
SELECT
    round(100 * (m.x - ends.left) / ends.width, 1) AS x,
    round(100 * (ends.top - m.y) / ends.height, 1) AS y,
    sizes.place
FROM cluster.map AS m
CROSS JOIN ends
JOIN cluster.clusters AS c USING (entry_id)
LEFT JOIN sizes USING (group_id)
ORDER BY m.place
LIMIT $n_points;
