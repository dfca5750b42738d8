-- Releases by their ids, the benchmark that each is of, and the language that it is in.
SELECT name, release_id, benchmark, language
FROM release.releases
WHERE list_contains($release_ids, release_id)
ORDER BY release_id;
