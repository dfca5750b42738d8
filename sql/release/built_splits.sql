-- The split of each item that was ever in a built release of a benchmark.
SELECT DISTINCT i.item_id, r.split
FROM release.items AS i
JOIN release.releases AS r USING (release_id)
WHERE r.benchmark = $benchmark AND r.origin = 'built' AND r.split IS NOT NULL
ORDER BY i.item_id;
