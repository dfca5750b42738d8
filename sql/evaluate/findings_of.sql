-- What analyses found of one release, also where another is compared with it.
SELECT *
FROM evaluate.findings
WHERE $release_id IN (release_id, other)
ORDER BY analysis, place;
