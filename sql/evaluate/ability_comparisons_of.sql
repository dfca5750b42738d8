-- Every two models compared on one release by ability.
SELECT *
FROM evaluate.ability_comparisons
WHERE release_id = $release_id
ORDER BY judge, judge_version, subset_label, subset_value, first, second;
