-- Comparisons on a release by what came of them.
SELECT judge, judge_version, status, count(*) AS n
FROM evaluate.shown_pairs
WHERE release_id = $release_id
GROUP BY ALL
ORDER BY ALL;
