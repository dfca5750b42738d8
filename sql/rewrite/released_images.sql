-- Pictures of the current releases under these names, and the names that there are.
SELECT DISTINCT c.name, i.image_id
FROM release.current AS c
LEFT JOIN release.images AS i USING (release_id)
WHERE c.name IN (SELECT unnest($names::VARCHAR[]))
ORDER BY c.name, i.image_id;
