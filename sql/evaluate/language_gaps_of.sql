-- What models score more on a release than on its translation, or the other way round: it is the first of both,
-- or the second.
SELECT *
FROM evaluate.language_gaps
WHERE $release_id IN (first_release, second_release)
ORDER BY
    first_release,
    second_release,
    judge,
    judge_version,
    place,
    subset_label,
    subset_value,
    first_value DESC NULLS LAST,
    model;
