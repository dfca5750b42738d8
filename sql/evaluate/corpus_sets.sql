-- A sample of the image sets of each kind, in the order of their ids, which are hashes; with titles of pages
-- and licences.
WITH sample AS (
    SELECT set_id, kind
    FROM cluster.image_sets
    GROUP BY set_id, kind
    QUALIFY row_number() OVER (PARTITION BY kind ORDER BY set_id) <= $n_sets
)
SELECT s.set_id, s.kind, i.position, i.image_id, any_value(e.title) AS title, any_value(e.licence) AS licence,
    any_value(e.artist) AS artist
FROM sample AS s
JOIN cluster.image_sets AS i USING (set_id)
LEFT JOIN ingest.entries AS e USING (entry_id)
GROUP BY s.set_id, s.kind, i.position, i.image_id
ORDER BY s.kind, s.set_id, i.position;
