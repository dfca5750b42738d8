-- What flags items of a release, in order of its items: filters, then item analysis.
SELECT i.ordinal, f.*
FROM (
    SELECT
        benchmark,
        release_id,
        item_id,
        filter AS flag,
        right_models,
        wrong_models,
        unknown_models,
        answers,
        NULL AS n_models,
        NULL AS discrimination
    FROM evaluate.flagged_items
    UNION ALL BY NAME
    SELECT benchmark, release_id, item_id, unnest(flags) AS flag, n_models, discrimination
    FROM evaluate.item_statistics
) AS f
JOIN release.items AS i USING (release_id, item_id)
WHERE f.release_id = $release_id
ORDER BY i.ordinal, f.answers IS NULL, f.flag;
