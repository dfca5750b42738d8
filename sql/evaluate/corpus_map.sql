-- The first points of the map, and the place of their group by size; NULL in none.
WITH sizes AS (
    SELECT group_id, row_number() OVER (ORDER BY count(*) DESC, group_id) AS place
    FROM cluster.clusters
    WHERE group_id IS NOT NULL
    GROUP BY group_id
)
SELECT round(m.x, 2) AS x, round(m.y, 2) AS y, sizes.place
FROM cluster.map AS m
JOIN cluster.clusters AS c USING (entry_id)
LEFT JOIN sizes USING (group_id)
ORDER BY m.place
LIMIT $n_points;
