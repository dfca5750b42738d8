-- The images of the current imported benchmarks.
SELECT DISTINCT i.image_id
FROM release.current AS c
JOIN release.releases AS r USING (release_id)
JOIN release.images AS i USING (release_id)
WHERE r.origin = 'imported' AND r.kind = 'benchmark'
ORDER BY i.image_id;
