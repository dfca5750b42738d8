-- Releases by their ids, and the benchmark that each is of.
SELECT name, release_id, benchmark
FROM release.releases
WHERE list_contains($release_ids, release_id)
ORDER BY release_id;
