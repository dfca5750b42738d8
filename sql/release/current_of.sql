-- The current releases of some benchmarks.
SELECT r.*
FROM release.current AS c
JOIN release.releases AS r USING (release_id)
WHERE list_contains($benchmarks, r.benchmark)
ORDER BY r.name;
