-- Pages of the corpus that the current imported benchmarks name as the source of an image.
SELECT DISTINCT e.page_id
FROM release.current AS c
JOIN release.releases AS r USING (release_id)
JOIN release.images AS i USING (release_id)
JOIN ingest.entries AS e ON e.page_url = i.page_url
WHERE r.origin = 'imported' AND r.kind = 'benchmark'
ORDER BY e.page_id;
