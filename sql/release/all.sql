-- Every release, and whether it is the current one of its name.
SELECT r.*, c.release_id IS NOT NULL AS is_current
FROM release.releases AS r
LEFT JOIN release.current AS c USING (name, release_id)
ORDER BY r.name, r.release_id;
