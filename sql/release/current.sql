-- The current releases.
SELECT r.*
FROM release.current AS c
JOIN release.releases AS r USING (release_id)
ORDER BY r.name;
