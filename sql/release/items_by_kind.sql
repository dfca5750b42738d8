-- Number of items in the releases in force that were built, by kind.
SELECT r.kind, count(*) AS n
FROM release.current
JOIN release.releases AS r USING (release_id)
JOIN release.items USING (release_id)
WHERE r.origin = 'built'
GROUP BY r.kind
ORDER BY r.kind;
