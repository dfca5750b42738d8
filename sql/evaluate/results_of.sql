-- The results of one release. A score of everything is there in each form, a score of a subset with failures at the
-- floor.
SELECT * REPLACE (array_to_string(trained_on, ', ') AS trained_on)
FROM evaluate.results
WHERE release_id = $release_id AND (subset_label = '' OR form = 'floor')
ORDER BY
    judge,
    judge_version,
    place,
    form,
    subset_label,
    subset_value,
    value DESC NULLS LAST,
    n_refused,
    model;
