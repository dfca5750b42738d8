-- Subsets of a release by size, and how far each keeps the ranking of the models.
SELECT * EXCLUDE (benchmark, release_id, judge, judge_version, item_ids)
FROM evaluate.smallest_subsets
WHERE release_id = $release_id
ORDER BY size;
