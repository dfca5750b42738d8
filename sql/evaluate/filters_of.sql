-- What each filter found in a release.
SELECT filter, models, min_models, n_items, n_flagged, n_undecided, why
FROM evaluate.filters
WHERE release_id = $release_id
ORDER BY filter;
