-- Releases in force that have scores.
SELECT r.*
FROM release.current AS c
JOIN release.releases AS r USING (release_id)
WHERE EXISTS (SELECT 1 FROM evaluate.scores AS s WHERE s.release_id = r.release_id)
ORDER BY r.name;
