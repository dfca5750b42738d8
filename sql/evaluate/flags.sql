-- What flags items of the releases in force, for people to decide on: filters, then item analysis. An item
-- that everyone has right is no mistake, so it is not among them.
SELECT
    f.benchmark,
    f.release_id,
    f.item_id,
    f.filter AS flag,
    f.right_models,
    f.wrong_models,
    f.unknown_models,
    f.answers,
    NULL AS n_models,
    NULL AS discrimination
FROM evaluate.flagged_items AS f
JOIN release.current AS c USING (release_id)
UNION ALL BY NAME
SELECT
    s.benchmark,
    s.release_id,
    s.item_id,
    unnest(list_filter(s.flags, lambda flag: flag <> 'everyone_right')) AS flag,
    s.n_models,
    s.discrimination
FROM evaluate.item_statistics AS s
JOIN release.current AS c USING (release_id)
ORDER BY release_id, item_id, flag DESC;
