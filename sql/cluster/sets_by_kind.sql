-- Number of image sets of each kind.
SELECT kind, count(DISTINCT set_id) AS n
FROM cluster.image_sets
GROUP BY kind
ORDER BY kind;
