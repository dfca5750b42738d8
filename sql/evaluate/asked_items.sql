-- Models that were asked about some items of a release only, by the number of these items.
SELECT a.release_id, a.model, count(DISTINCT a.item_id) AS n_asked, any_value(r.n_items) AS n_items
FROM evaluate.shown_answers AS a
JOIN release.releases AS r USING (release_id)
GROUP BY a.release_id, a.model
HAVING n_asked < any_value(r.n_items)
ORDER BY a.release_id, a.model;
