-- Which errors go on a release when earlier turns are given, by judge, change, task and model.
SELECT *
FROM evaluate.error_attribution
WHERE release_id = $release_id
ORDER BY
    judge,
    judge_version,
    change,
    before_dimension,
    dimension,
    subset_label,
    subset_value,
    model;
