-- Number of items in the current releases that were built, by kind; of imported ones where none was built.
SELECT r.kind, count(*) AS n
FROM release.current
JOIN release.releases AS r USING (release_id)
JOIN release.items USING (release_id)
WHERE r.origin = 'built' OR NOT EXISTS (FROM release.releases WHERE origin = 'built')
GROUP BY r.kind
ORDER BY r.kind;
